"""A summary as JUnit XML: a suite for each table, a test case for each rule.

JUnit knows no warnings. A rule of severity warn is a case that was skipped, with what it says, as hosts show that apart
from cases that passed, and don't fail. Input that was refused is a case with an error.

Valid by the schema of Jenkins' xUnit plugin (junit-10.xsd); and but for what is skipped, which it does not know, by
Ant's: so each suite has an id, a package, a host and a time, and cases have no output of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from holdfast import __version__
from holdfast.report.ci.summary import RuleSummary, Summary
from holdfast.visible import visible

_NO_XML = re.compile("[\ufffe\uffff]")  # of what `visible` leaves


def junit_text(summary: Summary) -> str:
    """The summary as a document."""
    root = Element("testsuites")
    if summary.refused:
        case = _case(_suite(root, "holdfast", summary), "holdfast", "input")
        _add(case, "error", summary.refused, kind="refused")
    for table in dict.fromkeys(rule.table for rule in summary.rules):
        suite = _suite(root, table, summary)
        for rule in summary.rules:
            if rule.table == table:
                _add_rule(suite, rule, summary.skipped)
    if summary.errors:
        suite = _suite(root, "holdfast", summary)
        for error in summary.errors:
            _add(_case(suite, "holdfast", "batch"), "failure", error, kind="batch")
    if not len(root):  # no rules are watched
        _suite(root, "holdfast", summary)
    for suite in root:
        _finish(suite, summary)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _suite(root: Element, name: str, summary: Summary) -> Element:
    """A suite. The seconds are those of the command, and stand with the first one."""
    seconds = summary.seconds if not len(root) else 0.0
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    place = {"id": str(len(root)), "package": "holdfast", "hostname": "localhost", "timestamp": now}
    suite = SubElement(root, "testsuite", {"name": _plain(name), **place, "time": f"{seconds:.3f}"})
    SubElement(SubElement(suite, "properties"), "property", name="holdfast", value=__version__)
    return suite


def _add_rule(suite: Element, rule: RuleSummary, skipped: str) -> None:
    """The case of a rule."""
    case = _case(suite, rule.table, rule.rule)
    text = [] if rule.rule == rule.text else [rule.text]
    if rule.standing == "failed":
        _add(case, "failure", rule.said, [*text, *rule.rows], "violated")
    elif skipped:
        _add(case, "skipped", skipped)
    elif rule.standing != "holds":
        _add(case, "skipped", rule.heading, [*text, *rule.rows])


def _case(suite: Element, table: str, name: str) -> Element:
    return SubElement(suite, "testcase", {"classname": _plain(table), "name": _plain(name), "time": "0"})


def _add(case: Element, tag: str, message: str, rows: Sequence[str] = (), kind: str = "") -> None:
    """What became of a case, and the rows that are the reason."""
    found = SubElement(case, tag, {"message": _plain(message), **({"type": kind} if kind else {})})
    found.text = "\n".join(map(_plain, [message, *rows]))


def _finish(suite: Element, summary: Summary) -> None:
    """The numbers of a suite, and the verdict as its output."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    SubElement(suite, "system-out").text = _plain(summary.line)
    SubElement(suite, "system-err")


def _plain(text: str) -> str:
    """A text that XML can hold."""
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
