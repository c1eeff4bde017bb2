"""Discovery: merge the columns' sorted dictionaries into clusters, given how often each value occurs.

Values are inverted to the columns that hold them by merging, as the dictionaries are sorted already: no value is hashed
or sorted again. The values of a class are cut into ranges, so that each range fits in memory however many there are,
and each is a task of its own: it merges its range of all columns of the class and answers with clusters and sums,
which add up. Tasks run in threads over open tables, or elsewhere over files, with equal results.
Cost: O(d log k) comparisons for d distinct values in k columns of a class.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.engines.inclusion import values
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.state import INDState
from holdfast.kernels.inclusion import merge_strings
from holdfast.kernels.jit import frozen
from holdfast.table import files, images, numbers
from holdfast.table.dictionary import Dictionary
from holdfast.table.images import Images
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.runs import ValueRun
from holdfast.table.table import TableFiles

_VALUES_AT_ONCE = 1 << 21
_SAMPLES_A_RANGE = 32
Bound: TypeAlias = Fraction | bytes | None


class Opened(NamedTuple):
    """A column in a task: its number, its values, and their frequencies by code."""

    number: int
    dictionary: Dictionary
    counts: NDArray[Any]


Opener: TypeAlias = Callable[[], Opened]


def discover(state: INDState, runner: Runner) -> INDState:
    """The state of some tables with its clusters."""
    written: list[str] = []
    try:
        columns = _at_hand(state, runner) if runner.is_local else _in_files(state, runner, written)
        for kind in dict.fromkeys(attribute.kind for attribute in state.attributes):
            chosen = [columns[attribute.number] for attribute in state.of_kind(kind)]
            work = partial(clusters_of_range, chosen, len(state.attributes))
            for found in runner.map(work, _ranges([column().dictionary for column in chosen])):
                state.clusters += found
        return state
    finally:
        for path in written:
            files.remove(path)


def _at_hand(state: INDState, runner: Runner) -> list[Opener]:
    """The columns of tables that are open."""
    dictionaries = runner.map(state.dictionary, state.attributes)
    return [
        partial(_itself, Opened(a.number, dictionary, state.counts(a).array))
        for a, dictionary in zip(state.attributes, dictionaries, strict=True)
    ]


def _itself(column: Opened) -> Opened:
    return column


# ---- one range ------------------------------------------------------------------------------------------------------


def clusters_of_range(openers: Sequence[Opener], columns: int, bounds: tuple[Bound, Bound]) -> AttributeClusters:
    """The clusters of all values v with low <= v < high, the bounds, of some columns of one class."""
    lanes: dict[int, list[tuple[int, Images, NDArray[np.int64]]]] = {}
    for number, dictionary, counts in (opener() for opener in openers):
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


def _in_files(state: INDState, runner: Runner, written: list[str]) -> list[Opener]:
    """The columns by files: those of their tables, of their frequencies, and of their texts where values compare so.
    `written` gets the files that are of no use afterwards.
    """
    wheres, folders, counts = [], [], []
    for attribute in state.attributes:
        where = state.tables[attribute.table].files
        wheres.append(where)
        folders.append(where.segments[0].path.rpartition("/")[0] if where.segments else ".")
        counts.append(files.write_new(folders[-1], {"count": state.counts(attribute).array}))
        written.append(counts[-1])
    columns = list(zip(wheres, [attribute.column for attribute in state.attributes], folders, strict=True))
    typed = state.settings.compare == "typed"
    as_text = [a.number for a in state.attributes if not (typed or pa.types.is_string(a.kept))]
    texts = dict(zip(as_text, runner.map(_write_texts, [columns[number] for number in as_text]), strict=True))
    written += texts.values()
    return [
        partial(_open, a.number, wheres[a.number], a.column, counts[a.number], texts.get(a.number))
        for a in state.attributes
    ]


def _write_texts(source: tuple[TableFiles, int, str]) -> str:
    """Write the texts of a column to a folder; gives the file. Another attempt of the same task writes another one."""
    where, column, folder = source
    dictionary = open_table(where).dictionaries[column]
    run = values.text_run(1, dictionary.image_range(1, len(dictionary) - 1), dictionary.kept)
    return files.write_new(folder, {"value": run.values, "order": run.order})


def _open(number: int, where: TableFiles, column: int, counts: str, texts: str | None) -> Opened:
    """A column by its files."""
    if texts is None:
        dictionary = open_table(where).dictionaries[column]
    else:
        arrays, _ = files.read(texts)
        run = ValueRun(1, arrays["value"], arrays["order"])
        dictionary = Dictionary(pa.string(), (run,) if len(run) else ())
    return Opened(number, dictionary, files.read(counts)[0]["count"])
