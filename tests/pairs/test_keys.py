"""Hash tables of keys, and of keys with counts, compared with Python's dictionaries."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.pairs import keys as keys_module
from holdfast.pairs.counter import KeyCounter
from holdfast.pairs.keys import Keys, KeyTable

Key = tuple[int, ...]

words = st.sampled_from([0, 1, 2, 3, 2**32, 2**63, 2**64 - 1])


@st.composite
def keys_in_parts(draw: st.DrawFn) -> tuple[int, list[list[Key]]]:
    width = draw(st.integers(0, 3))
    key = st.tuples(*[words] * width)
    return width, draw(st.lists(st.lists(key, max_size=40), min_size=1, max_size=4))


def rows(keys: list[Key], width: int) -> Keys:
    return np.array(keys, np.uint64).reshape(len(keys), width)


@given(keys_in_parts())
def test_keys_are_numbered_as_they_come(given_keys: tuple[int, list[list[Key]]]) -> None:
    width, parts = given_keys
    with patch.object(keys_module, "_LEAST", 1):
        table, known = KeyTable(width), dict[Key, int]()
        for part in parts:
            assert table.find(rows(part, width)).tolist() == [known.get(key, -1) for key in part]
            for key in part:
                known.setdefault(key, len(known))
            assert table.entries(rows(part, width)).tolist() == [known[key] for key in part]
            assert table.used == len(known)
            assert [tuple(key) for key in table.keys.tolist()] == list(known)


@given(keys_in_parts(), st.lists(st.integers(-3, 3), min_size=160, max_size=160))
def test_counts_add_up(given_keys: tuple[int, list[list[Key]]], steps: list[int]) -> None:
    width, parts = given_keys
    with patch.object(keys_module, "_LEAST", 1):
        counter, known = KeyCounter(width), dict[Key, int]()
        for part in parts:
            counter.add([(rows(part, width), np.array(steps[: len(part)], np.int64))])
            for key, step in zip(part, steps, strict=False):
                known[key] = known.get(key, 0) + step
            found, counts = counter.signed()
            expected = {key: count for key, count in known.items() if count}
            assert {tuple(key): n for key, n in zip(found.tolist(), counts.tolist(), strict=True)} == expected
