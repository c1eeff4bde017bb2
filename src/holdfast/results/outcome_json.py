"""What a batch did as JSON objects, one for each change: the important ones first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.changes.diff import Cause, Diff, Finding, Worth
from holdfast.engines.contract import is_given
from holdfast.expectations.unusual import Unusual
from holdfast.results.marked_diffs import At, MarkedDiffs
from holdfast.results.memory import RuleKey
from holdfast.results.verdict import Repeat

Line = tuple[float, dict[str, Any]]  # an object with its place in the order


def change_objects(
    marked: MarkedDiffs, worse: Collection[Finding], repeats: Mapping[RuleKey, Repeat], unusual: Sequence[Unusual]
) -> list[dict[str, Any]]:
    """First given rules that got worse, then broken and gained rules by score, then the others."""
    is_worse = {id(rule) for rule in worse}
    lines: list[Line] = []
    for at, diff in marked.diffs.items():
        lines += _with_marks(marked, at, _lost_lines(diff))
        lines += _gained_lines(diff)
        lines += [
            (4.0 if id(new) in is_worse else 0.0, _changed(marked, repeats.get((*at, new.text)), old, new))
            for old, new in diff.changed.values()
        ]
    lines += [(3.5 if each.severity == "error" else 1.5, {"event": "unusual", **each.to_json()}) for each in unusual]
    return [line for _, line in sorted(lines, key=lambda each: -each[0])]


def _with_marks(marked: MarkedDiffs, at: At, lines: Iterable[Line]) -> Iterator[Line]:
    """Lines about rules: pinned ones first, ignored ones last."""
    ignored, pinned = marked.texts(at, "ignored"), marked.texts(at, "pinned")
    for early, line in lines:
        if line["text"] in ignored:
            yield -1.0, {**line, "mark": "ignored"}
        elif line["text"] in pinned:
            yield early + 1.5, {**line, "mark": "pinned"}
        else:
            yield early, line


def _changed(marked: MarkedDiffs, repeat: Repeat | None, old: Finding, new: Finding) -> dict[str, Any]:
    line = {"event": "changed", **new.to_json(), "before": old.to_json()}
    if not is_given(line):
        return line
    like = {} if repeat is None else {"repeats_batch": repeat.since}
    return {**line, **dict(zip(("new", "gone"), marked.moved(new.text, table_of(new)), strict=True)), **like}


def table_of(rule: Finding) -> str | None:
    """The table of a rule; None: it is about several."""
    return rule.to_json().get("table")


def _lost_lines(diff: Diff) -> Iterator[Line]:
    """The rules that are no longer reported."""
    for text, finding in diff.lost.items():
        witness = diff.witnesses.get(text)
        worth = (diff.worth or {}).get(text) if witness else None
        line = _line(diff.loss(text), finding, worth, diff.causes.get(text))
        yield (2.0 + diff.score(text), {**line, "witness": witness.to_json()}) if witness else (0.0, line)


def _gained_lines(diff: Diff) -> Iterator[Line]:
    """The rules that are reported now."""
    for text, finding in diff.gained.items():
        worth = (diff.gained_worth or {}).get(text)
        yield 1.0 + (worth.score if worth else 0.0), _line("gained", finding, worth, diff.causes.get(text))


def _line(event: str, finding: Finding, worth: Worth | None, cause: Cause | None) -> dict[str, Any]:
    """A rule that came or went, with its score and the reason, where they are known."""
    figures = worth.to_json() if worth else {}
    return {"event": event, **finding.to_json(), **figures, **(cause.to_json() if cause else {})}
