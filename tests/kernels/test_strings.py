"""Binary search among byte strings, against bisect, compiled and as plain Python."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import strings

# Bytes below, at and above the sign bit, and the one that ends strings in C.
texts = st.lists(st.sampled_from([b"\x00", b"a", b"\xff"]), max_size=4).map(b"".join)


def plain_python(function: Any) -> Any:
    """The function behind a kernel; the kernel itself where compiling is switched off."""
    return getattr(function, "py_func", function)


@pytest.fixture(params=["compiled", "plain"], scope="module")
def lower_bound(request: pytest.FixtureRequest) -> Any:
    return strings.lower_bound if request.param == "compiled" else plain_python(strings.lower_bound)


def laid_out(parts: list[bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    offsets = np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)
    return offsets, np.frombuffer(b"".join(parts) + b"tail", np.uint8)


def search(
    kernel: Callable[..., None], parts: list[bytes], order: list[int], wanted: list[bytes]
) -> tuple[list[int], list[bool]]:
    at, equal = np.full(len(wanted), -7, np.int64), np.zeros(len(wanted), np.bool_)
    kernel(*laid_out(parts), np.array(order, np.int64), *laid_out(wanted), at, equal)
    return at.tolist(), equal.tolist()


@settings(deadline=None, max_examples=80)
@given(st.sets(texts, max_size=12), st.lists(texts, max_size=8))
def test_sorted_strings(lower_bound: Callable[..., None], parts: set[bytes], wanted: list[bytes]) -> None:
    ranked = sorted(parts)
    at, equal = search(lower_bound, ranked, [], wanted)
    assert at == [bisect_left(ranked, each) for each in wanted]
    assert equal == [each in parts for each in wanted]


@settings(deadline=None, max_examples=80)
@given(st.lists(texts, max_size=12, unique=True), st.lists(texts, max_size=8))
def test_strings_with_their_order(lower_bound: Callable[..., None], parts: list[bytes], wanted: list[bytes]) -> None:
    order = sorted(range(len(parts)), key=parts.__getitem__)
    at, equal = search(lower_bound, parts, order, wanted)
    assert at == [bisect_left(sorted(parts), each) for each in wanted]
    assert equal == [each in parts for each in wanted]


@settings(deadline=None, max_examples=80)
@given(texts, texts)
def test_compare_has_the_sign_of_the_order(a: bytes, b: bytes) -> None:
    for compare in (strings.compare_bytes, plain_python(strings.compare_bytes)):
        x, y = laid_out([b"skip", a])[1], laid_out([b])[1]
        sign = compare(x, 4, 4 + len(a), y, 0, len(b))
        assert (sign > 0) - (sign < 0) == (a > b) - (a < b)
