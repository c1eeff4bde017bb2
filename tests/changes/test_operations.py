"""The words that change feeds use."""

import pyarrow as pa
import pytest

from holdfast.changes.operations import DELETE, INSERT, UPDATE, parse_operations
from holdfast.errors import BadInput


def test_words_of_several_feeds_in_any_case() -> None:
    words = ["insert", "DELETE", " Update", "c", "r", "d", "u", "update_preimage", "update_postimage"]
    expected = [INSERT, DELETE, UPDATE, INSERT, INSERT, DELETE, UPDATE, DELETE, INSERT]
    assert parse_operations(pa.chunked_array([words, words[:2]])).tolist() == expected + expected[:2]


def test_no_rows_have_no_operations() -> None:
    assert parse_operations(pa.chunked_array([], pa.string())).tolist() == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["insert", "merge"], "unknown operation 'merge'; use insert, delete, update, upsert"),
        (["d", None], "has no operation"),
    ],
)
def test_other_words_are_refused(words: list[str | None], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        parse_operations(pa.chunked_array([words]))
