"""Admitting: staged rows become a change of a table, in memory where they are few, else as tasks over files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes, hash_rows
from holdfast.changes.operations import INSERT
from holdfast.table import bulk, files, shard
from holdfast.table.encode import Caster, Staged, merge
from holdfast.table.load import fresh_runs, open_segment, with_segments, write_segment
from holdfast.table.refused_rows import NO_ROWS, WrongRows, refuse, refuse_null_keys
from holdfast.table.resolve import Mode, OnMissing, resolve, resolve_snapshot
from holdfast.table.runner import Runner
from holdfast.table.table import Segment, Table, TableFiles

SMALL = 200_000
_ROWS_A_SLICE = 1 << 20


@dataclass(frozen=True)
class Incoming:
    """Staged rows on their way into a table: in memory (`chunks`) or in files, with a caster for columns of text.
    With `tolerant`, rows that can't be applied are reported, and not refused; `before` rows come before the upserts.
    """

    mode: Mode
    chunks: Sequence[tuple[Staged, NDArray[np.int8] | None]] = ()
    paths: Sequence[str] = ()
    rows: int = 0
    casters: Sequence[Caster | None] | None = None
    on_missing: OnMissing = "error"
    tolerant: bool = False
    before: int = 0


@dataclass(frozen=True)
class Admitted:
    """The table after the change, the new segments (files that a commit must name), and what was left out: how many
    operations on rows that are not there, and the rows that are wrong.
    """

    table: Table
    segments: tuple[Segment, ...]
    born: range
    dead: NDArray[np.int64]
    ignored: int = 0
    wrong: WrongRows = NO_ROWS


def admit(table: Table, incoming: Incoming, folder: str, runner: Runner, say: Callable[[str], None]) -> Admitted:
    """Encode and resolve staged rows. Writes new segment files in `folder`, and nothing else."""
    if incoming.rows <= SMALL:
        return _admit_few(table, incoming, folder)
    return _Bulk(table, incoming, folder, runner, say).admit()


# ---- few rows: in memory ------------------------------------------------------------------------------------------


def _admit_few(table: Table, incoming: Incoming, folder: str) -> Admitted:
    chunks = [*incoming.chunks, *(bulk.read_staged(path, len(table.schema.columns)) for path in incoming.paths)]
    codes, grown = _encode(table, [staged for staged, _ in chunks], incoming.casters)
    kinds = [np.full(len(s), INSERT, np.int8) if given is None else given for s, given in chunks]
    operations = np.concatenate([np.empty(0, np.int8), *kinds])
    if not incoming.tolerant:
        refuse_null_keys(grown, int((codes[list(table.schema.key)] == 0).sum()))
    hashes = hash_rows(list(codes[table.schema.found_by]))
    if incoming.mode == "snapshot":
        found = resolve_snapshot(grown, grown.living_ids(), codes)
    else:
        found = resolve(grown, codes, operations, hashes, incoming.mode)
    places, why = found.wrong
    all_wrong = WrongRows(places, why, operations[places], codes[:, places])
    wrong, ignored = all_wrong.without_ignored(incoming.on_missing)
    if not incoming.tolerant:
        refuse(grown, wrong, incoming.before)
    born = range(grown.next_id, grown.next_id + len(found.born))
    made = shard.build(list(codes[:, found.born]), grown.schema.key, born, hashes[found.born])
    segment = write_segment(folder, made, found.dead, fresh_runs(table.dictionaries, grown.dictionaries))
    after = grown.changed([replace(made, path=segment.path)], found.dead)
    where = TableFiles(table.schema, (*table.files.segments, segment), after.next_id)
    return Admitted(replace(after, where=where), (segment,), born, found.dead, ignored, wrong)


def _encode(table: Table, chunks: list[Staged], casters: Sequence[Caster | None] | None) -> tuple[Codes, Table]:
    rows = sum(len(chunk) for chunk in chunks)
    codes = np.empty((len(table.dictionaries), rows), np.uint32)
    grown = []
    for c, dictionary in enumerate(table.dictionaries):
        caster, name = casters[c] if casters else None, table.schema.names[c]
        maps, fresh = merge([chunk.values[c] for chunk in chunks], dictionary, caster, name)
        parts = [own[chunk.codes[c]] for own, chunk in zip(maps, chunks, strict=True)]
        codes[c] = np.concatenate([np.empty(0, np.uint32), *parts])
        grown.append(dictionary.extended(fresh))
    return codes, table.grown(tuple(grown))


# ---- many rows: files and tasks -----------------------------------------------------------------------------------


class _Bulk:
    def __init__(
        self, table: Table, incoming: Incoming, folder: str, runner: Runner, say: Callable[[str], None]
    ) -> None:
        self._table, self._incoming = table, incoming
        self._folder, self._runner, self._say = folder, runner, say
        self._width = len(table.schema.columns)
        self._paths: list[str] = []
        self._temporary: list[str] = []
        self._lasting: list[str] = []

    def admit(self) -> Admitted:
        try:
            self._paths = [*self._spill(), *self._incoming.paths]
            values, maps = self._merge()
            shards = self._finish(maps)
            if not self._must_match(shards):
                return self._admitted(shards, values, np.empty(0, np.int64))
            shards, dead, wrong, ignored = self._resolve(shards, values)
            return replace(self._admitted(shards, values, dead), ignored=ignored, wrong=wrong)
        except BaseException:
            self._temporary += self._lasting
            raise
        finally:
            for path in self._temporary:
                files.remove(path)

    def _spill(self) -> list[str]:
        """Files of the rows that came in memory."""
        paths = []
        for staged, operations in self._incoming.chunks:
            paths.append(bulk.write_staged(self._folder, staged, operations))
            self._temporary.append(paths[-1])
        return paths

    def _must_match(self, shards: list[str]) -> bool:
        """Whether rows must be matched with others. Inserts into a table without a key need not."""
        if self._table.schema.key or self._incoming.mode == "snapshot":
            return True
        return any("operation" in arrays for arrays, _ in map(files.read, shards))

    def _merge(self) -> tuple[list[str], list[str]]:
        """The files of new values, and each column's file of maps."""
        self._say("Building dictionaries")
        casters = self._incoming.casters or [None] * self._width
        known = [segment.path for segment in self._table.files.segments]
        merge = partial(bulk.merge_column, self._table.schema.columns, casters, self._paths, known, self._folder)
        merged = self._runner.map(merge, range(self._width))
        maps, values = [maps for maps, _ in merged], [values for _, values in merged if values is not None]
        self._temporary += maps
        self._lasting += values
        return values, maps

    def _finish(self, maps: list[str]) -> list[str]:
        self._say("Writing shards")
        finish = partial(bulk.finish_shard, maps, self._table.schema.key, self._folder)
        finished = self._runner.map(finish, list(enumerate(self._paths)))
        shards = [path for path, _ in finished]
        self._lasting += shards
        if not self._incoming.tolerant:
            refuse_null_keys(self._table, sum(null_keys for _, null_keys in finished))
        return shards

    def _resolve(self, shards: list[str], values: list[str]) -> tuple[list[str], NDArray[np.int64], WrongRows, int]:
        """The shards of the rows that are born, the rows that die, those that are wrong, and how many are ignored."""
        self._say("Matching rows")
        slices = max(1, (self._incoming.rows + self._table.rows) // _ROWS_A_SLICE)
        bounds = [(1 << 64) * i // slices for i in range(slices + 1)]
        resolve_range = partial(bulk.resolve_range, self._table.files, shards, self._incoming.mode, self._folder)
        answers = self._runner.map(resolve_range, list(itertools.pairwise(bounds)))
        self._temporary += answers
        wrong, ignored = self._wrong(answers).without_ignored(self._incoming.on_missing)
        if not self._incoming.tolerant:
            grown = with_segments(self._table, [open_segment(Segment(path)) for path in values], self._table.next_id)
            refuse(grown, wrong, self._incoming.before)
        dead = [files.read(answer)[0]["dead"].copy() for answer in answers]
        return self._keep(shards, answers), np.sort(np.concatenate(dead)), wrong, ignored

    def _wrong(self, answers: list[str]) -> WrongRows:
        results = [files.read(answer)[0] for answer in answers]
        names = ["wrong", "why", "wrong_kind", *(f"wrong_code/{c}" for c in range(self._width))]
        places, why, kinds, *codes = (np.concatenate([each[name] for each in results]) for name in names)
        order = np.argsort(places, kind="stable")
        return WrongRows(places[order], why[order], kinds[order], np.stack(codes)[:, order])

    def _keep(self, shards: list[str], answers: list[str]) -> list[str]:
        ends = np.cumsum([len(files.read(path)[0].unchecked("place")) for path in shards])
        marks = np.zeros(ends[-1], np.uint8)
        for answer in answers:
            marks[files.read(answer)[0]["born"]] = 1
        if marks.all():
            return shards
        marks_path = files.write_new(self._folder, {str(i): own for i, own in enumerate(np.split(marks, ends[:-1]))})
        self._temporary.append(marks_path)
        keep = partial(bulk.keep_rows, self._table.schema.key, self._width, marks_path, self._folder)
        kept = [path for path in self._runner.map(keep, list(enumerate(shards))) if path is not None]
        self._temporary += shards
        self._lasting += kept
        return kept

    def _admitted(self, shards: list[str], values: list[str], dead: NDArray[np.int64]) -> Admitted:
        segments = [Segment(path) for path in values]
        if len(dead):
            segments.append(write_segment(self._folder, dead=dead))
            self._lasting.append(segments[-1].path)
        first = next_id = self._table.next_id
        for path in shards:
            segments.append(Segment(path, next_id))
            next_id += len(files.read(path)[0].unchecked("place"))
        after = with_segments(self._table, [open_segment(each) for each in segments], next_id)
        return Admitted(after, tuple(segments), range(first, next_id), dead)
