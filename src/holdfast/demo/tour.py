"""The guided tour: a small watched tax table, batches that arrive as files, what each one changed, and a report."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from rich.rule import Rule

from holdfast.api.monitor import Monitor
from holdfast.demo.tax import make_tax, write_csv
from holdfast.intake.source import ReadOptions
from holdfast.report.printing import print_explanation, print_history, print_outcome, print_suggestions
from holdfast.report.tables import findings_tables
from holdfast.report.terminal import Terminal, TerminalProgress, plain
from holdfast.spark.session import HERE, can_start_here

_ROWS = 20_000
_console = Terminal()


def run(html: Path) -> None:
    """Run the tour in a folder of its own, which is gone afterwards; the report stays."""
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder, TerminalProgress() as progress:
        here = Path(folder)
        tax = _records(0, _ROWS)
        spark = can_start_here()
        _heading(f"{_ROWS:,} tax records in a CSV file: {'Spark reads, ' if spark else ''}Holdfast watches")
        write_csv(tax, here / "tax.csv")
        rules = here / "rules.yaml"
        rules.write_text(_RULES)
        options = ReadOptions(reader="spark", master=HERE) if spark else ReadOptions()
        source = {"tax": here / "tax.csv"}
        with Monitor.create(here / "state", source, rules=rules, key="Id", options=options, progress=progress) as watch:
            for table in findings_tables([finding.to_json() for finding in watch.results()]):
                _console.print(table)
            _heading("Which rules do the data seem to follow?")
            print_suggestions(watch.suggest(), 6)
            _batches(watch, tax, here)
            _heading("The history")
            print_history(watch.history())
            _heading("All of it as one page, to open or to mail")
            size = watch.report(html)
            _console.print(
                plain(f"{html}: {size / 1e6:.1f} MB. Open it in a browser: {html.resolve().as_uri()}"), soft_wrap=True
            )
    _what_next()


_RULES = """
rules:
  - name: fair
    rule: "not(t.State = s.State and t.Salary > s.Salary and t.Rate < s.Rate)"
    note: who earns more pays no lower rate
  - {name: city, rule: "not(t.Zip = s.Zip and t.City != s.City)"}
  - {name: zip, rule: "Zip -> State"}
"""


def _batches(watch: Monitor, tax: pa.Table, here: Path) -> None:
    _heading("Batch 1: 500 new records, one with a salary that nobody else has")
    fresh = _records(_ROWS, 500)
    salaries = fresh["Salary"].to_pylist()
    salaries[17] = 9_999_999
    fresh = _with(fresh, "Salary", pa.array(salaries))
    write_csv(fresh, here / "new.csv")
    print_outcome(watch.apply(inserts=here / "new.csv", batch_id="monday"))
    _heading("Why? And which rows should you look at first?")
    print_explanation(watch.explanation("fair"))

    _heading("Batch 2: a change feed mends it, blanks 3 phones, deletes 100 rows")
    mended = _with(fresh.slice(17, 1), "Salary", pa.array([50_000]))
    forgotten = _with(tax.slice(40, 3), "Phone", pa.nulls(3, pa.string()))
    feed = pa.concat_tables([mended, forgotten, tax.slice(1_000, 100)])
    feed = feed.append_column("op", pa.array(["update"] * 4 + ["delete"] * 100))
    print_outcome(watch.apply(changes=feed, batch_id="tuesday"))

    _heading("Batch 3: a full snapshot of Wednesday; Holdfast finds the difference")
    snapshot = pa.concat_tables([tax.slice(0, 1_000), tax.slice(1_100)])
    print_outcome(watch.apply(snapshot=snapshot, batch_id="wednesday"))

    _heading("Batch 4: 20 more records, one with another city for a known zip code")
    more = _records(_ROWS + 500, 20)
    cities = [tax["City"][40].as_py() + "x", *more["City"].to_pylist()[1:]]
    zips = [tax["Zip"][40].as_py(), *more["Zip"].to_pylist()[1:]]
    more = _with(_with(more, "City", pa.array(cities)), "Zip", pa.array(zips))
    print_outcome(watch.apply(inserts=more, batch_id="thursday"))

    _heading("Monday's file arrives again: a batch id counts only once")
    print_outcome(watch.apply(inserts=here / "new.csv", batch_id="monday"))


def _records(first: int, count: int) -> pa.Table:
    return make_tax(count, offset=first).add_column(0, "Id", pa.array(range(first, first + count)))


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def _heading(text: str) -> None:
    _console.print()
    _console.print(Rule(f"[bold]{plain(text)}[/bold]", align="left"), width=min(_console.width, 100))


def _what_next() -> None:
    _heading("What to try next")
    _console.print(
        "  holdfast discover yourdata.csv              what is in a table of yours, on one screen\n"
        "  holdfast suggest yourdata.csv --to r.yaml   rules that the data seem to follow, as a rule file\n"
        "  holdfast init state/ yourdata.csv --key id  start watching it; also --suggest 20, --rules r.yaml\n"
        "  holdfast apply state/ --insert more.csv     a batch; also --delete, --changes, --snapshot\n"
        "  holdfast watch state/ --from incoming/      every file that arrives\n"
        "  holdfast status state/                      what holds now\n"
        "  holdfast report state/ --html report.html   such a page of your state; holdfast serve shows it live\n"
        "  holdfast check yourdata.csv --rules r.yaml  rules of your own, and the rows that break them",
        markup=False,
        soft_wrap=True,
    )
