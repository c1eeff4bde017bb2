"""A summary as SARIF 2.1.0, which hosts show as annotations: a result for each violation.

A result is located where its rule is written, or else where its rows are; the other places are related ones. Its
fingerprint is the same in every run, so that a host knows a violation again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from holdfast import __version__
from holdfast.report.ci.summary import Place, RuleSummary, Standing, Summary, Violation
from holdfast.visible import visible, visible_json

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Standing, str] = {"failed": "error", "warning": "warning", "known": "note", "holds": "none"}
# The one that GitHub knows results by, and the one of ours, whose meaning we may change in another version.
_FINGERPRINTS = ("primaryLocationLineHash", "holdfastViolation/v1")

Json = dict[str, Any]


def sarif_text(summary: Summary) -> str:
    """The summary as a document."""
    broken = [rule for rule in summary.rules if rule.standing != "holds"]
    driver = {"name": "Holdfast", "version": __version__, "rules": [_rule(rule) for rule in summary.rules]}
    place = {rule.id: number for number, rule in enumerate(summary.rules)}
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(summary, broken)],
        "results": [result for rule in broken for result in _results(rule, place[rule.id])],
        "columnKind": "unicodeCodePoints",
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return visible_lines_of(document)


def visible_lines_of(document: Json) -> str:
    """A document as JSON on several lines, in which characters that hide are escaped."""
    return "\n".join(map(visible_json, json.dumps(document, indent=1, ensure_ascii=False).split("\n"))) + "\n"


def _rule(rule: RuleSummary) -> Json:
    """What is said of a rule once for all of its violations."""
    full = {"fullDescription": _message(rule.note)} if rule.note else {}
    level = {"level": _LEVELS[rule.standing if rule.standing != "holds" else "failed"]}
    about = {"id": visible(rule.id), "shortDescription": _message(rule.text), "defaultConfiguration": level}
    return {**about, **full, "properties": {"violations": rule.count}}


def _invocation(summary: Summary, broken: Iterable[RuleSummary]) -> Json:
    """Whether the command worked, and what it says besides."""
    said: list[tuple[Literal["error", "note"], str]] = []
    if summary.refused:
        said.append(("error", summary.refused))
    said += [("error", error) for error in summary.errors]
    said += [
        ("note", f"{rule.id}: of {rule.count:,} violations the first {len(rule.violations):,} are listed")
        for rule in broken
        if rule.violations and len(rule.violations) < rule.count
    ]
    notes = [{"level": level, "message": _message(text)} for level, text in said]
    more = {"toolExecutionNotifications": notes} if notes else {}
    return {"executionSuccessful": not summary.refused, **more}


def _results(rule: RuleSummary, number: int) -> Iterator[Json]:
    """A result for each violation that is listed; one for all of them where none is."""
    listed = rule.violations or (Violation("", "", ()),)
    one = RuleSummary(rule.table, rule.rule, rule.text, rule.standing, violations=listed)
    for violation, fingerprint in zip(listed, one.fingerprints(), strict=True):
        said = f"{rule.rule}: {violation.said}" if violation.said else rule.said
        rows = violation.places
        at: Place | None = rule.place or (rows[0] if rows else None)
        more = {"relatedLocations": [_location(each, rule) for each in rows]} if rule.place and rows else {}
        yield {
            "ruleId": visible(rule.id),
            "ruleIndex": number,
            "level": _LEVELS[rule.standing],
            "message": _message(said),
            "locations": [_location(at, rule)],
            **more,
            "partialFingerprints": dict.fromkeys(_FINGERPRINTS, fingerprint),
        }


def _message(text: str) -> Json:
    return {"text": visible(text)}


def _location(place: Place | None, rule: RuleSummary) -> Json:
    """A place in a file, if one is known, and the table."""
    logical = {"logicalLocations": [{"fullyQualifiedName": visible(rule.table)}]}
    if place is None:
        return logical
    region = {"region": {"startLine": place.line}} if place.line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri_of(place.file)}, **region}, **logical}


def uri_of(file: str) -> str:
    """The address of a file: relative to the current folder, in which a CI host runs commands, if it lies there.

    >>> uri_of("rules/my rules.yaml")
    'rules/my%20rules.yaml'
    """
    path = Path(file).absolute()
    if path.is_relative_to(Path.cwd()):
        return _quoted(path.relative_to(Path.cwd()).parts)
    return path.as_uri()


def _quoted(parts: Sequence[str]) -> str:
    return "/".join(quote(part, errors="surrogateescape") for part in parts)
