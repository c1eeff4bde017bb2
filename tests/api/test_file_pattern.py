"""Patterns of the names of files, and the order of batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.api.file_pattern import ANY, FilePattern, Named, batch_order
from holdfast.errors import BadInput


@pytest.mark.parametrize(
    ("pattern", "name", "says"),
    [
        (r"(?P<batch>\d+)-(?P<table>\w+)\.csv", "01-orders.csv", Named("01", "orders")),
        (r"(?P<batch>\d+)-(?P<table>\w+)\.csv", "01-orders.csv.tmp", None),
        (r"(?P<batch>\d+)-(?P<table>\w+)\.csv", "x01-orders.csv", None),
        (r"(?P<table>\w+)\.csv", "orders.csv", Named(None, "orders")),
        (r"(?P<batch>\d+)\.csv", "7.csv", Named("7", None)),
        (r"(?P<batch>\d+)(-(?P<table>\w+))?\.csv", "7.csv", Named("7", None)),
        (r"(run-)?\d+\.csv", "run-7.csv", Named()),
        ("", "a", None),
    ],
)
def test_what_a_name_says(pattern: str, name: str, says: Named | None) -> None:
    assert FilePattern.of(pattern).read(name) == says


@pytest.mark.parametrize("name", ["a.csv", "", "a\nb", "é", "\udce9"])
def test_any_name_will_do_without_a_pattern(name: str) -> None:
    assert ANY.read(name) == Named()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "this is no regular expression"),
        ("(?P<batch>a)(?P<batch>b)", "this is no regular expression"),
        ("a{99999999999}", "this is no regular expression"),
        (r"(?P<bach>\d+)\.csv", "the group 'bach' means nothing"),
    ],
)
def test_bad_patterns(pattern: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        FilePattern.of(pattern)


def test_numbers_count_as_numbers() -> None:
    names = ["run-10", "run-9", "10", "9", "010", "run", "2024-01-02", "2024-01-1", "", "b", "٣"]
    wanted = ["", "٣", "9", "010", "10", "2024-01-1", "2024-01-02", "b", "run", "run-9", "run-10"]
    assert sorted(names, key=batch_order) == wanted


@given(st.lists(st.integers(0, 10**12), unique=True), st.sampled_from(["", "run-", "7 "]))
def test_numbers_of_any_length(numbers: list[int], before: str) -> None:
    names = sorted((f"{before}{number}" for number in numbers), key=batch_order)
    assert names == [f"{before}{number}" for number in sorted(numbers)]


@given(st.sets(st.text("01a-", max_size=4)))
def test_different_names_have_one_order(names: set[str]) -> None:
    assert len({tuple(batch_order(name)) for name in names}) == len(names)
