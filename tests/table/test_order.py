"""Order keys compare as the values do, whatever arrives in whatever order, and however narrow the gaps are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.table import dictionary as module
from holdfast.table import images, order
from holdfast.table.dictionary import Dictionary, encode
from holdfast.table.order import OrderKeys
from tests.table.values import KINDS, Kind, rank


@pytest.fixture(autouse=True, params=["made one by one", "kept"], scope="module")
def keys_made(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keys of the values that a dictionary started with, as a few are made, or as all are kept."""
    with patch.object(order, "_FEW", 0 if request.param == "made one by one" else 1 << 30):
        yield


kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
letters = st.text(alphabet="ab\x00\uffff\U0001f600", max_size=3)


def with_values(dictionary: Dictionary, values: list[Any]) -> Dictionary:
    made = images.to_images(pa.array(values, dictionary.kept), dictionary.kept)
    return encode(dictionary, images.sorted_distinct(made)[0])[1]


def check(keys: OrderKeys, dictionary: Dictionary) -> None:
    """Keys of all codes, null's included, rise strictly in the order of the values."""
    codes = np.arange(len(dictionary))
    values = dictionary.values(codes).to_pylist()
    ranked = sorted(codes.tolist(), key=lambda code: rank(values[code]))
    assert ranked[0] == 0
    rising = keys.of(np.array(ranked))
    assert (rising[1:] > rising[:-1]).all()
    assert keys.of(np.zeros(1, np.uint8))[0] == images.NULL_KEY


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(letters, max_size=8), min_size=1, max_size=8),
    st.sampled_from([2, 3, 1 << 32]),
    st.sampled_from([0, 3, 1 << 16]),
)
def test_growing_text(portions: list[list[str]], gap: int, small: int) -> None:
    with patch.object(module, "_SMALL", small):
        dictionary = with_values(Dictionary(pa.string()), portions[0])
        keys = OrderKeys(dictionary, gap=gap)
        check(keys, dictionary)
        for portion in portions[1:]:
            dictionary = with_values(dictionary, portion)
            keys.follow(dictionary)
            check(keys, dictionary)
        check(OrderKeys(dictionary, gap=gap), dictionary)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(letters, max_size=4), max_size=12), st.sets(st.integers(0, 11)))
def test_following_now_and_then_is_following_always(portions: list[list[str]], stops: set[int]) -> None:
    dictionary = Dictionary(pa.string())
    keys = OrderKeys(dictionary, gap=2)
    with patch.object(module, "_SMALL", 2):
        for number, portion in enumerate(portions):
            dictionary = with_values(dictionary, portion)
            if number in stops:
                keys.follow(dictionary)
    keys.follow(dictionary)
    check(keys, dictionary)


@kinds
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_every_type(kind: Kind, data: st.DataObject) -> None:
    dictionary = Dictionary(kind.type)
    keys = OrderKeys(dictionary, gap=2)
    for portion in data.draw(st.lists(st.lists(kind.drawn | st.sampled_from(kind.always), max_size=5), max_size=4)):
        dictionary = with_values(dictionary, portion)
        keys.follow(dictionary)
        check(keys, dictionary)
    if not images.is_wide(kind.type):
        assert keys.generation == 0
        assert (
            keys.of(np.arange(1, len(dictionary))).tolist() == dictionary.image_range(1, len(dictionary) - 1).tolist()
        )


def arrivals(pattern: str, count: int) -> list[str]:
    """Values in the order in which they arrive."""
    if pattern == "ever higher":
        return [f"{n:05}" for n in range(count)]
    if pattern == "ever lower":
        return [f"{n:05}" for n in reversed(range(count))]
    if pattern == "always into the same gap, from below":
        return ["0", "2", *(f"1{n:05}" for n in range(count - 2))]
    if pattern == "always into the same gap, from above":
        return ["0", "2", *(f"1{n:05}" for n in reversed(range(count - 2)))]
    if pattern == "from both ends to the middle":
        return [f"{(n if n % 2 else 99_999 - n):05}" for n in range(count)]
    shuffled = [f"{n:05}" for n in range(count)]
    random.Random(3).shuffle(shuffled)
    return shuffled


PATTERNS = [
    "ever higher",
    "ever lower",
    "always into the same gap, from below",
    "always into the same gap, from above",
    "from both ends to the middle",
    "in any order",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("gap", [2, 1 << 32])
def test_thousands_one_by_one(pattern: str, gap: int) -> None:
    dictionary = Dictionary(pa.string())
    keys = OrderKeys(dictionary, gap=gap)
    count = 800
    for value in arrivals(pattern, count):
        dictionary = dictionary.extended(pa.array([value.encode()], pa.large_binary()))
        keys.follow(dictionary)
    check(keys, dictionary)
    if pattern in ("ever higher", "ever lower"):
        assert keys.generation == 0
    else:
        assert keys.generation < count / 4
    if gap > 2:
        assert keys.generation < count / 16


@pytest.mark.parametrize("pattern", PATTERNS)
def test_thousands_in_portions(pattern: str) -> None:
    dictionary = Dictionary(pa.string())
    keys = OrderKeys(dictionary, gap=2)
    values = arrivals(pattern, 5_000)
    for start in range(0, len(values), 250):
        dictionary = with_values(dictionary, values[start : start + 250])
        keys.follow(dictionary)
        check(keys, dictionary)
    assert keys.generation <= 5_000 / 4


def test_generation_tells_when_old_keys_moved() -> None:
    """As long as the generation stays, keys once given stay; a spread counts up."""
    dictionary = Dictionary(pa.string())
    keys = OrderKeys(dictionary, gap=4)
    moved = 0
    for value in arrivals("always into the same gap, from below", 300):
        old, generation = keys.of(np.arange(len(dictionary))).copy(), keys.generation
        dictionary = dictionary.extended(pa.array([value.encode()], pa.large_binary()))
        keys.follow(dictionary)
        if keys.generation == generation:
            assert np.array_equal(keys.of(np.arange(len(old))), old)
        else:
            moved += 1
    assert moved == keys.generation > 0


@kinds
def test_an_older_version_keeps_its_keys(kind: Kind) -> None:
    """An engine may look at the table before a batch, after it has looked at the table after it."""
    half = len(kind.always) // 2
    older = with_values(Dictionary(kind.type), list(kind.always[:half]))
    newer = with_values(older, list(kind.always[half:]))
    keys = OrderKeys(newer, gap=2)
    keys.follow(older)
    check(keys, older)
    keys.follow(newer)
    check(keys, newer)
    assert keys.generation == 0


@kinds
def test_another_branch_gets_keys_of_its_own(kind: Kind) -> None:
    """A batch that failed gave its values codes; the next batch gives the same codes to other values."""
    base = with_values(Dictionary(kind.type), list(kind.always[:1]))
    failed = with_values(base, list(kind.always[1:]))
    keys = OrderKeys(base, gap=2)
    keys.follow(failed)
    for value in kind.always[1:]:
        branch = with_values(base, [value])
        keys.follow(branch)
        check(keys, branch)
    keys.follow(failed)
    check(keys, failed)
