"""Sets as bits among other sets, against Python's sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from holdfast.pairs import bitsets
from tests.kernels.test_hitting import Sets, families, matrix


@given(families, families)
def test_places_containers_and_elements(some: Sets, others: Sets) -> None:
    mine, theirs = matrix(some), matrix(others)
    assert bitsets.elements_of_each(mine) == [bitsets.elements(one) for one in mine]
    places, above = bitsets.places_among(mine, theirs), bitsets.containers(mine, theirs)
    for one, place, container in zip(mine, places, above, strict=True):
        assert (place >= 0) == (frozenset(bitsets.elements(one)) in others)
        assert place < 0 or np.array_equal(theirs[place], one)
        assert (container >= 0) == any(set(bitsets.elements(one)) <= other for other in others)
        assert container < 0 or not (one & ~theirs[container]).any()
