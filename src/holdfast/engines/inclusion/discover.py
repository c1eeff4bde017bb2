"""Discovery: merge the columns' sorted dictionaries into clusters, given how often each value occurs.

Values are inverted to the columns that hold them by merging, as the dictionaries are sorted already: no value is hashed
or sorted again. The values of a class are cut into ranges, so that each range fits in memory however many there are,
and each is a task of its own: it merges its range of all columns of the class and answers with clusters and sums,
which add up. Tasks run in threads over open tables, or elsewhere over files, with equal results.
Cost: O(d log k) comparisons for d distinct values in k columns of a class.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.engines.inclusion import values
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.state import Attribute, INDState
from holdfast.kernels.inclusion import merge_strings
from holdfast.kernels.jit import frozen
from holdfast.table import files, images, numbers
from holdfast.table.dictionary import Dictionary
from holdfast.table.images import Images
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.runs import ValueRun
from holdfast.table.table import Table, TableFiles

_VALUES_AT_ONCE = 1 << 21
_SAMPLES_A_RANGE = 32
Bound: TypeAlias = Fraction | bytes | None
# A column in a task: its number, its values, and their frequencies by code.
Source: TypeAlias = tuple[int, Dictionary, NDArray[Any]]


def discover(state: INDState, runner: Runner) -> INDState:
    """The state of some tables with its clusters."""
    return _discover_here(state, runner) if runner.is_local else _discover_elsewhere(state, runner)


def _discover_here(state: INDState, runner: Runner) -> INDState:
    for kind in _kinds(state.attributes):
        chosen = state.of_kind(kind)
        dictionaries = runner.map(state.dictionary, chosen)
        sources = [(a.number, d, state.counts(a).array) for a, d in zip(chosen, dictionaries, strict=True)]
        work = partial(clusters_of_range, sources, len(state.attributes))
        for found in runner.map(work, _ranges(dictionaries)):
            state.clusters += found
    return state


def _kinds(attributes: Sequence[Attribute]) -> list[str]:
    return list(dict.fromkeys(attribute.kind for attribute in attributes))


# ---- one range ------------------------------------------------------------------------------------------------------


def clusters_of_range(sources: Sequence[Source], columns: int, bounds: tuple[Bound, Bound]) -> AttributeClusters:
    """The clusters of all values v with low <= v < high, the bounds, of some columns of one class."""
    lanes: dict[int, list[tuple[int, Images, NDArray[np.int64]]]] = {}
    for number, dictionary, counts in sources:
        for run in dictionary.runs:
            sliced, count = _slice(run, dictionary.kept, counts, *bounds)
            for lane, keys, places in values.split(sliced, dictionary.kept):
                lanes.setdefault(lane, []).append((number, keys, count[places]))
    clusters = AttributeClusters(columns)
    for lists in lanes.values():
        order, fresh = _merged([keys for _, keys, _ in lists])
        column = np.repeat([number for number, _, _ in lists], [len(keys) for _, keys, _ in lists])
        clusters.add_sorted(order, fresh, column, np.concatenate([count for _, _, count in lists]))
    return clusters


def _slice(
    run: ValueRun, kept: pa.DataType, counts: NDArray[Any], low: Bound, high: Bound
) -> tuple[Images, NDArray[np.int64]]:
    """The living values of a run within bounds, in order, and their frequencies."""
    start, end = _place(run, kept, low, 0), _place(run, kept, high, len(run))
    places = np.arange(start, max(start, end))
    count = counts[run.codes_at(places)].astype(np.int64)
    living = count > 0
    if living.all() and not len(run.order):
        return run.values[start : max(start, end)], count
    inside = places[living]
    return images.take(run.values, run.order[inside] if len(run.order) else inside), count[living]


def _place(run: ValueRun, kept: pa.DataType, bound: Bound, otherwise: int) -> int:
    if bound is None:
        return otherwise
    image = bound if isinstance(bound, bytes) else numbers.lowest_image(bound, kept)
    if image is None:
        return len(run)
    wanted = pa.array([image], pa.large_binary()) if isinstance(image, bytes) else np.array([image], np.int64)
    return int(run.search(wanted)[0][0])


def _merged(lists: list[Images]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The entries of sorted lists in order, and which of them differ from the one before."""
    together = images.concat(lists)
    fresh = np.ones(len(together), np.bool_)
    if isinstance(together, np.ndarray):
        order = np.argsort(together, kind="stable")  # merges the sorted lists that it finds
        fresh[1:] = np.diff(together[order]) != 0
        return order, fresh
    order = np.empty(len(together), np.int64)
    starts = np.cumsum([0, *(len(each) for each in lists)])
    offsets, data = images.bytes_of(together)
    merge_strings(frozen(offsets), frozen(data), starts, order, fresh)
    return order, fresh


# ---- ranges ---------------------------------------------------------------------------------------------------------


def _ranges(dictionaries: Sequence[Dictionary]) -> list[tuple[Bound, Bound]]:
    """Ranges that cover all values of a class, each of about as many values."""
    total = sum(len(dictionary) for dictionary in dictionaries)
    wanted = -(-total // _VALUES_AT_ONCE)
    sample: list[Any] = []
    for dictionary in dictionaries if wanted > 1 else ():
        for run in dictionary.runs:
            sample += _sampled(run, dictionary.kept, max(1, total // (wanted * _SAMPLES_A_RANGE)))
    sample.sort()
    cuts = sorted({sample[len(sample) * i // wanted] for i in range(1, wanted)}) if sample else []
    return list(itertools.pairwise([None, *cuts, None]))


def _sampled(run: ValueRun, kept: pa.DataType, step: int) -> Iterator[Any]:
    places = np.arange(step // 2, len(run), step)
    for place in run.order[places] if len(run.order) else places:
        if values.class_of(kept) == values.TEXT:
            yield run.values[int(place)].as_py()
        else:
            image = run.values[int(place)]
            exact = numbers.exactly(int(image) if isinstance(run.values, np.ndarray) else image.as_py(), kept)
            if exact is not None:
                yield exact


# ---- elsewhere: tasks over files ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column by its files: those of its table, of its frequencies, and of its texts where values compare so (none
    before a task has written them).
    """

    number: int
    where: TableFiles
    column: int
    counts: str
    as_text: bool
    texts: str | None = None

    @property
    def folder(self) -> str:
        """Where its files go."""
        return self.counts.rpartition("/")[0]


def _discover_elsewhere(state: INDState, runner: Runner) -> INDState:
    columns = [_column(state.tables[a.table], a, state.settings.compare) for a in state.attributes]
    try:
        for column, attribute in zip(columns, state.attributes, strict=True):
            files.write(column.counts, {"count": state.counts(attribute).array})
        texts = iter(runner.map(_write_texts, [column for column in columns if column.as_text]))
        columns = [replace(column, texts=next(texts)) if column.as_text else column for column in columns]
        for kind in _kinds(state.attributes):
            chosen = tuple(columns[a.number] for a in state.of_kind(kind))
            work = partial(_clusters_of_files, chosen, len(state.attributes))
            for found in runner.map(work, _ranges([_dictionary(column) for column in chosen])):
                state.clusters += found
        return state
    finally:
        for column in columns:
            for path in (column.counts, column.texts):
                if path is not None:
                    files.remove(path)


def _column(table: Table, attribute: Attribute, compare: values.Compare) -> _Column:
    assert table.where is not None, "a table lies in files before tasks look at it"
    segments = table.where.segments
    folder = segments[0].path.rpartition("/")[0] if segments else "."
    as_text = compare == "text" and not pa.types.is_string(attribute.kept)
    return _Column(attribute.number, table.where, attribute.column, files.new_path(folder), as_text)


def _write_texts(column: _Column) -> str:
    """Write the texts of a column; gives the file. Another attempt of the same task writes another one."""
    dictionary = open_table(column.where).dictionaries[column.column]
    run = values.text_run(1, dictionary.image_range(1, len(dictionary) - 1), dictionary.kept)
    path = files.new_path(column.folder)
    files.write(path, {"value": run.values, "order": run.order})
    return path


def _dictionary(column: _Column) -> Dictionary:
    if column.texts is None:
        return open_table(column.where).dictionaries[column.column]
    arrays, _ = files.read(column.texts)
    run = ValueRun(1, arrays["value"], arrays["order"])
    return Dictionary(pa.string(), (run,) if len(run) else ())


def _clusters_of_files(columns: Sequence[_Column], width: int, bounds: tuple[Bound, Bound]) -> AttributeClusters:
    sources = [(c.number, _dictionary(c), files.read(c.counts)[0]["count"]) for c in columns]
    return clusters_of_range(sources, width, bounds)
