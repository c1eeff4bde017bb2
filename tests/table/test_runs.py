"""Runs in files: a few values are found among any number without reading them all, and never wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.errors import Damaged
from holdfast.table import checks, files, images
from holdfast.table.runs import SORTED, FileRun, ValueRun

BLOCK = 64
words = st.lists(st.binary(max_size=5), min_size=1, max_size=40, unique=True)
numbers = st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=40, unique=True)


@pytest.fixture(autouse=True)
def small_blocks() -> Iterator[None]:
    with patch.object(checks, "BLOCK", BLOCK):
        yield


def images_of(values: list[Any]) -> images.Images:
    return pa.array(values, pa.large_binary()) if isinstance(values[0], bytes) else np.array(values, np.int64)


def kept(path: Path, values: list[Any], first: int = 7) -> tuple[ValueRun, FileRun]:
    """The same values, in the order given, in memory and in a file."""
    order = SORTED if values == sorted(values) else np.array(sorted(range(len(values)), key=values.__getitem__))
    files.write(str(path), {"value/0": images_of(values), "order/0": order})
    return ValueRun(first, images_of(values), order), FileRun(first, files.read(str(path))[0], 0)


def listed(found: Any) -> list[Any]:
    return list(found.tolist() if isinstance(found, np.ndarray) else found.to_pylist())


def looked_at(run: FileRun) -> int:
    """How many blocks were checked."""
    return sum(int(seen.sum()) for seen in run._arrays._seen.values())


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=words | numbers, data=st.data())
def test_a_run_in_a_file_answers_as_one_in_memory(values: list[Any], data: st.DataObject, tmp_path: Path) -> None:
    plain, filed = kept(tmp_path / "some.arrow", values)
    kind = st.binary(max_size=5) if isinstance(values[0], bytes) else st.integers(-(2**62), 2**62)
    wanted = images_of(data.draw(st.lists(st.sampled_from(values) | kind, min_size=1, max_size=20)))
    places: NDArray[np.int64] = np.array(data.draw(st.lists(st.integers(0, len(values) - 1))), np.int64)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(values))] * 2)))
    for one, other in zip(plain.search(wanted), filed.search(wanted), strict=True):
        assert one.tolist() == other.tolist()
    assert plain.codes_at(places).tolist() == filed.codes_at(places).tolist()
    ranked = [sorted(values).index(values[place]) for place in places]
    assert plain.ranks(places).tolist() == filed.ranks(places).tolist() == ranked
    assert listed(plain.take(places)) == listed(filed.take(places)) == [values[place] for place in places]
    assert listed(plain.between(start, stop)) == listed(filed.between(start, stop)) == values[start:stop]
    assert not filed._is_whole
    assert (listed(filed.values), filed.order.tolist()) == (values, plain.order.tolist())
    assert (len(filed), filed.nbytes) == (len(plain), plain.nbytes)
    assert filed._is_whole
    assert filed.search(wanted)[0].tolist() == plain.search(wanted)[0].tolist()


MANY: dict[str, list[Any]] = {
    "numbers": list(range(0, 20_000, 2)),
    "numbers in any order": np.random.default_rng(1).permutation(10_000).tolist(),
    "texts": [b"%06d" % n for n in range(10_000)],
    "texts in any order": [b"%06d" % n for n in np.random.default_rng(2).permutation(10_000)],
}
many = pytest.mark.parametrize("values", MANY.values(), ids=MANY)


@many
def test_a_few_values_cost_a_few_blocks(tmp_path: Path, values: list[Any]) -> None:
    _, run = kept(tmp_path / "some.arrow", values)
    at, found = run.search(images_of([values[5_000]]))
    assert found.all()
    assert run.codes_at(at).tolist() == [run.first + 5_000]
    assert looked_at(run) <= 8
    run.search(images_of(values[:100]))
    assert looked_at(run) > 1_000, "many values are worth looking at all"


@many
def test_a_bit_that_turned_never_leads_a_search_astray(tmp_path: Path, values: list[Any]) -> None:
    """It is refused, or it is far from the values searched for: then the answer is right."""
    path, wanted = tmp_path / "some.arrow", images_of([values[1_234], values[77], values[9_999]])
    plain, _ = kept(path, values)
    right = [answer.tolist() for answer in plain.search(wanted)]
    whole, damaged = path.read_bytes(), 0
    for bit in np.random.default_rng(3).integers(0, 8 * len(whole), 400).tolist():
        turned = bytearray(whole)
        turned[bit // 8] ^= 1 << bit % 8
        path.write_bytes(turned)
        try:
            answers = FileRun(7, files.read(str(path))[0], 0).search(wanted)
        except Damaged:
            damaged += 1
        else:
            assert [answer.tolist() for answer in answers] == right, bit
    assert 0 < damaged < 400


def test_an_order_that_leads_beyond_the_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.arrow"
    kept(path, [30, 10, 20, 0])
    whole = path.read_bytes()
    order = np.array([3, 1, 2, 0]).tobytes()
    assert whole.count(order) == 1
    path.write_bytes(whole.replace(order, np.array([3, 1 << 40, 2, 0]).tobytes()))
    with pytest.raises(Damaged, match="order/0"):
        FileRun(7, files.read(str(path))[0], 0).search(np.array([20]))
