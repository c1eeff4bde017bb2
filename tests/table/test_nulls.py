"""What a comparison with null means."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.table.nulls import Nulls


@pytest.mark.parametrize("nulls", Nulls)
def test_states_json_and_tasks_have_it_as_its_text(nulls: Nulls) -> None:
    assert json.loads(json.dumps({"nulls": nulls})) == {"nulls": nulls.value}
    assert f"{nulls}" == nulls.value
    assert repr(nulls) == repr(nulls.value)
    assert pickle.loads(pickle.dumps(nulls)) is nulls


def test_a_meaning_is_equal_or_distinct_or_neither() -> None:
    assert [(each.are_equal, each.are_distinct) for each in Nulls] == [(True, False), (False, True), (False, False)]


@pytest.mark.parametrize("word", ["sql", "Equal", ""])
def test_users_declare_equal_or_distinct(word: str) -> None:
    with pytest.raises(BadInput, match=f"nulls can't be {word!r}; give 'equal' or 'distinct'"):
        hf.discover(pa.table({"a": [1, None]}), nulls=word)  # type: ignore[arg-type]
