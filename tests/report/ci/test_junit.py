"""JUnit XML is valid by the schemas in use, and says of each rule what the summary says."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hypothesis import given

from holdfast.report.ci.junit import junit_text
from holdfast.report.ci.summary import RuleSummary, Summary
from holdfast.visible import visible
from tests.report.ci.summaries import summaries

COUNTS = ("tests", "failures", "errors", "skipped")
# What the schemas of Jenkins' xUnit plugin and of Ant both allow (Ant's knows no skipped cases): attributes that must
# be there (True) or may, and the children in their order, as a pattern over their signs.
SCHEMA: dict[str, tuple[dict[str, bool], str]] = {
    "testsuites": ({}, "S+"),
    "testsuite": (
        dict.fromkeys(["name", "id", "package", "hostname", "timestamp", "time", *COUNTS], True),
        "PC*OE",
    ),
    "properties": ({}, "p*"),
    "property": ({"name": True, "value": True}, ""),
    "testcase": (dict.fromkeys(["classname", "name", "time"], True), "[FRK]?"),
    "failure": ({"message": False, "type": True}, ""),
    "error": ({"message": False, "type": True}, ""),
    "skipped": ({"message": False}, ""),
    "system-out": ({}, ""),
    "system-err": ({}, ""),
}
SIGNS = {
    "testsuite": "S", "properties": "P", "property": "p", "testcase": "C", "system-out": "O", "system-err": "E",
    "failure": "F", "error": "R", "skipped": "K",
}  # fmt: skip


def refuse_invalid(element: Element) -> None:
    """Fail where an element is not as the schemas say."""
    attributes, children = SCHEMA[element.tag]
    assert {name for name, must in attributes.items() if must} <= set(element.attrib) <= set(attributes)
    assert re.fullmatch(children, "".join(SIGNS[child.tag] for child in element))
    for name in (*COUNTS, "id"):
        assert element.get(name, "0").isdecimal()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.get("timestamp", "2026-01-01T00:00:00"))
    float(element.get("time", "0"))
    for child in element:
        refuse_invalid(child)


def outcome_of(case: Element) -> str:
    """The tag that says what became of a case."""
    return next((child.tag for child in case), "passed")


def expected(rule: RuleSummary, skipped: str) -> str:
    """The same, by the definition."""
    if rule.standing == "failed":
        return "failure"
    return "skipped" if skipped or rule.standing in ("warning", "known") else "passed"


@given(summaries)
def test_valid_and_true_whatever_it_holds(summary: Summary) -> None:
    root = ElementTree.fromstring(junit_text(summary))
    refuse_invalid(root)
    cases = [case for case in root.iter("testcase") if case.get("classname") != "holdfast"]
    tables = list(dict.fromkeys(rule.table for rule in summary.rules))
    ordered = sorted(summary.rules, key=lambda rule: tables.index(rule.table))
    assert [outcome_of(case) for case in cases] == [expected(rule, summary.skipped) for rule in ordered]
    assert [case.get("classname") for case in cases] == [rule.table for rule in ordered]
    others = [outcome_of(case) for case in root.iter("testcase") if case.get("classname") == "holdfast"]
    assert others == ["error"] * bool(summary.refused) + ["failure"] * len(summary.errors)
    for element in root:
        below = [outcome_of(case) for case in element.iter("testcase")]
        counts = [len(below), *(below.count(tag) for tag in ("failure", "error", "skipped"))]
        assert [int(element.attrib[name]) for name in COUNTS] == counts


def test_a_failure_has_the_sentence_the_text_and_the_rows() -> None:
    rule = RuleSummary("t", "one-city", "zip -> city", "failed", "one-city has 2 violations", ["row 3: <a>", "row 4"])
    root = ElementTree.fromstring(junit_text(Summary("t: 1 of 1 rule failed.", [rule])))
    (failure,) = root.iter("failure")
    assert failure.get("message") == "one-city has 2 violations"
    assert failure.text == "one-city has 2 violations\nzip -> city\nrow 3: <a>\nrow 4"
    assert [out.text for out in root.iter("system-out")] == ["t: 1 of 1 rule failed."]


def test_what_xml_cannot_hold_is_spelled_out() -> None:
    text = "\x00\x1b\ud800\ufffe\uffff"
    root = ElementTree.fromstring(junit_text(Summary(text, refused=text)))
    (error,) = root.iter("error")
    assert error.get("message") == visible(text[:3]) + "\\ufffe\\uffff"
