"""What leaves the team: planted values occur in no redacted verdict and on no redacted page; with sensitive columns,
only the values of the others do.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.alerts.message import of_outcome
from holdfast.results.redaction import for_others
from holdfast.results.verdict import Verdict

COLUMNS = ("id", "mail", "zip", "city")
# Each value says of which column it is, and occurs nowhere else: neither in a hash nor in a date.
PLANTED = re.compile(r"(id|mail|zip|city)qq\d")
RULES = [
    "zip -> city",
    "key(id)",
    "key(mail)",
    "t.city in ('cityqq0', 'cityqq1')",
    "t.mail like 'mailqq%' and t.mail != 'mailqq3'",
    "t.id != t.mail or t.zip is not null where t.city = 'cityqq2'",
    "not(t.zip = s.zip and t.mail = s.mail and t.city != s.city and t.city != 'cityqq3')",
    "distinct(city) <= 1",
    "people.mail in towns.mail",
    "zip -> city where t.mail != 'mailqq1'",
    "key(city) where t.id like '%qq2' and t.mail is not null",
    "people.id in towns.mail where t.zip = 'zipqq1'",
    "rows <= 2 where t.zip = 'zipqq1'",
    "[zip] orders [city] where t.mail != 'mailqq2'",
]
TOWNS = pa.table({"mail": ["mailqq0", "mailqq1"]})


def _table(rows: Sequence[Sequence[int | None]]) -> pa.Table:
    """Rows of planted values, by their numbers."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
    values = (
        pa.array([None if number is None else f"{name}qq{number}" for number in own], pa.string())
        for name, own in zip(COLUMNS, columns, strict=True)
    )
    return pa.table(dict(zip(COLUMNS, values, strict=True)))


CELLS = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=6)


@contextmanager
def _watched(
    rows: Sequence[Sequence[int | None]],
    sensitive: Sequence[str] = (),
    key: str = "",
    watch: str = "column,fd,ind",
) -> Iterator[hf.Monitor]:
    tables = {"people": _table(rows), "towns": TOWNS}
    with (
        tempfile.TemporaryDirectory() as folder,
        hf.Monitor.create(
            f"{folder}/s",
            tables,
            watch=watch,
            rules=[rule if " in towns" in rule else f"people: {rule}" for rule in RULES],
            sensitive={"people": sensitive, "towns": [name for name in sensitive if name == "mail"]},
            key={"people": key} if key else (),
        ) as monitor,
    ):
        yield monitor


def _said(verdict: Verdict) -> str:
    """All that a verdict says, and the objects behind it."""
    blocks = [line for block in verdict.blocks() for line in (block.heading, *block.rows)]
    objects = [each.finding.to_json() for each in verdict.worse] + [each.to_json() for each in verdict.mended]
    return "\n".join([verdict.line(), *verdict.last_lines(), *blocks, json.dumps(objects)])


def _summed_up(watch: hf.Monitor, outcome: hf.Outcome, fail_on: str, redact: bool) -> str:
    """What a CI host may show, but for the names in fingerprints, of which only hashes are written."""
    summary = watch.ci_summary(outcome, fail_on=fail_on, redact=redact)
    rules = [
        replace(rule, violations=[each._replace(identity="") for each in rule.violations]) for rule in summary.rules
    ]
    return str(replace(summary, rules=rules))


def _columns_in(text: str) -> set[str]:
    return {found[1] for found in PLANTED.finditer(text)}


@settings(max_examples=20, deadline=None)
@given(
    ROWS,
    ROWS,
    st.sets(st.sampled_from(COLUMNS), max_size=2),
    st.sampled_from(["likely", "any"]),
    st.sampled_from(["column,fd,ind", "ucc,od", "pod"]),
)
def test_what_is_redacted_has_no_value(
    before: list[tuple[int, ...]], new: list[tuple[int, ...]], sensitive: set[str], fail_on: str, classes: str
) -> None:
    with _watched(before, sorted(sensitive), watch=classes) as watch:
        outcome = watch.apply(inserts={"people": _table(new)}, fail_on=fail_on)
        verdict = outcome.verdict(fail_on, verbose=True)
        assert not _columns_in(_said(for_others(verdict)))
        assert not sensitive & _columns_in(_said(for_others(verdict, values=True)))
        assert not sensitive & _columns_in(json.dumps(watch.document()))
        assert not sensitive & _columns_in(_summed_up(watch, outcome, fail_on, redact=False))
        assert not _columns_in(_summed_up(watch, outcome, fail_on, redact=True))
        assert not _columns_in(json.dumps(of_outcome(outcome, fail_on, 0.01, values=False)))
        assert not sensitive & _columns_in(json.dumps(of_outcome(outcome, fail_on, 0.01, values=True)))
        assert not _columns_in(json.dumps(watch.document(redact=True)))


def test_without_sensitive_columns_values_are_those_of_the_terminal() -> None:
    with _watched([(0, 0, 0, 0)]) as watch:
        verdict = watch.apply(inserts={"people": _table([(1, 1, 0, 1)])}).verdict()
        assert for_others(verdict, values=True) is verdict
        assert _columns_in(_said(verdict)) == {"mail", "zip", "city"}


def _failed(*rows: tuple[int, ...]) -> list[str]:
    """The redacted blocks after some rows came, for three rules and an alarm of each."""
    rules = ["zip -> city", "key(id)", "t.city in ('cityqq0', 'cityqq1')"]
    with tempfile.TemporaryDirectory() as folder:
        start = _table([(0, 0, 0, 0), (1, 1, 1, 1)])
        with hf.Monitor.create(f"{folder}/s", {"people": start}, watch=[], rules=rules) as watch:
            verdict = for_others(watch.apply(inserts=_table(rows)).verdict())
    lines = [line for block in verdict.blocks() for line in (block.heading, *block.rows)]
    return [line.replace(f"{folder}/s", "state") for line in lines]


def test_redacted_blocks_name_rows_by_number_and_the_command_that_explains() -> None:
    assert _failed((2, 2, 0, 1), (0, 3, 2, 1)) == [
        "Failed: key(id) has 1 new violation",
        "row 3",
        'See: holdfast explain state "key(id)"',
        "Failed: zip -> city has 1 new violation",
        "row 2",
        'See: holdfast explain state "zip -> city"',
    ]


def test_constants_of_rules_are_hashed_and_the_command_still_leads_there() -> None:
    said = _failed((2, 2, 2, 3))
    assert re.fullmatch(r"Failed: t.city in \(#\w{8}, #\w{8}\) has 1 new violation", said[0])
    assert said[1:] == ["row 2", "See: holdfast explain state row1"]


def test_many_rows_are_counted() -> None:
    assert _failed(*((n, n, n + 4, 3) for n in range(4, 12)))[1] == "rows 2, 3, 4, 5, 6 and 3 more"


def test_a_name_that_its_user_chose_stays_unless_it_has_a_constant(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "rules:\n- {name: adults, rule: t.age >= 18}\n- {name: at-least-18, rule: t.age >= 18 or t.age is null}\n"
    )
    ages = pa.table({"age": [20, 30]})
    with hf.Monitor.create(tmp_path / "s", {"people": ages}, watch=[], rules=file) as watch:
        verdict = for_others(watch.apply(inserts=pa.table({"age": [17]})).verdict())
        page = json.dumps(watch.document(redact=True))
    called = {each.called for each in verdict.worse}
    assert "adults" in called
    assert not any("18" in each for each in called if each != "adults" and "#" not in each)
    assert "at-least-18" not in page


# ---- which columns are sensitive ------------------------------------------------------------------------------------


def test_sensitive_columns_are_hashed_on_pages_and_others_are_not() -> None:
    rows = [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 1, 1)]
    with _watched(rows, ["mail"], key="id") as watch:
        watch.apply(inserts={"people": _table([(3, 2, 1, 0)])})
        page = watch.document()
        text = json.dumps(page)
        assert _columns_in(text) == {"id", "zip", "city"}
        assert "Sensitive values are shown as hashes: people.mail, towns.mail." in page["notes"]
        assert not page["redacted"]
        (column,) = (each for each in page["columns"] if each["name"] == "mail" and each["table"] == 0)
        assert all(re.fullmatch(r"#\w{8}", value) for value, _ in column["frequent"])


def test_they_follow_renames_and_stay_when_a_column_comes_back() -> None:
    with _watched([(0, 0, 0, 0)], ["zip"]) as watch:
        assert watch.sensitive_columns() == {"people": ("zip",)}
        watch.rename_column("zip", "postcode", table="people")
        assert watch.sensitive_columns() == {"people": ("postcode",)}
        watch.drop_column("postcode", table="people")
        watch.add_column("postcode", "text", table="people")
        assert watch.sensitive_columns() == {"people": ("postcode",)}
        assert "no longer sensitive" in str(watch.declare_sensitive("postcode", table="people", undo=True))
        assert watch.sensitive_columns() == {}
        watch.declare_sensitive(["id", "city"], table="people")
        watch.drop_table("people")
        assert watch.sensitive_columns() == {}


def test_declaring_is_a_change_of_the_columns_and_stands_in_the_history() -> None:
    with _watched([(0, 0, 0, 0)]) as watch:
        done = watch.declare_sensitive(["mail", "zip"], table="people", change_id="privacy")
        assert str(done).splitlines() == [
            "change of the columns of people",
            "  column 'mail' is sensitive from now on",
            "  column 'zip' is sensitive from now on",
        ]
        assert watch.declare_sensitive("mail", table="people", change_id="privacy").already_applied
        assert str(watch.declare_sensitive("mail", table="people")) == "nothing changed: all is as you want it"
        assert watch.apply(inserts={"people": _table([(1, 1, 1, 1)])}).around.sensitive == {"people": ("mail", "zip")}


def test_unknown_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(hf.BadInput, match=r"'mial' is no column of people; did you mean 'mail'\?"):
        hf.Monitor.create(tmp_path / "s", {"people": _table([(0, 0, 0, 0)])}, sensitive="mial")
    assert not (tmp_path / "s").exists()
    with pytest.raises(hf.BadInput, match="columns are declared for 'x', which is no table here"):
        hf.Monitor.create(tmp_path / "s", {"people": _table([(0, 0, 0, 0)])}, sensitive={"x": "mail"})
    with _watched([(0, 0, 0, 0)]) as watch:
        with pytest.raises(hf.BadInput, match=r"'mial' is no column of people; did you mean 'mail'\?"):
            watch.declare_sensitive("mial", table="people")
        with pytest.raises(hf.BadInput, match="'mail' is no sensitive column of people; there are none"):
            watch.declare_sensitive("mail", table="people", undo=True)
