"""What notebooks show: the pictures of the page, rows side by side, and tables, as HTML with its style.

`html_of` draws any result: the one function that results know, which finds the one for their class.
Every value, name and text of others passes `escape` here or in the pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import islice
from sqlite3 import ProgrammingError
from typing import Any

from holdfast.changes.diff import Witness
from holdfast.engines.contract import Json
from holdfast.engines.registry import rule_class
from holdfast.report.document.details import rule_of, side_by_side, violations_page
from holdfast.report.document.fates import fate_of, turn_of
from holdfast.report.document.shown import Shown, Side
from holdfast.report.pages import escape, html_table
from holdfast.report.pictures import STYLE, strip
from holdfast.report.tables import Totals, sections, shown
from holdfast.results.checked import Checked, Listings
from holdfast.results.column import Lens
from holdfast.results.drawn import Drawn, shape_lines
from holdfast.results.explanation import Explanation
from holdfast.results.found import Found
from holdfast.results.history import RuleHistory, StateSummary, since
from holdfast.results.memory import Event, RuleKey
from holdfast.results.outcome import Outcome
from holdfast.results.suggestions import Suggestions

_PAIRS = 3  # pairs of rows that are shown of a rule, or of a batch
_OTHERS = 6  # columns that a rule does not look at
_RULES = 20  # rules of a history
_EACH = 10  # rules of a kind that name a column
_FINDINGS = 1000  # of a class of rules that were found
_STYLE = """
.hf { color: var(--hf-ink); overflow-x: auto; }
.hf h4 { margin: 0.8em 0 0.2em; font-weight: 600; } .hf p { margin: 0.3em 0; }
.hf table { border-collapse: collapse; margin: 0.3em 0 1em; }
.hf th, .hf td { text-align: left; padding: 0.15em 0.8em 0.15em 0; border-bottom: 1px solid var(--hf-line);
  vertical-align: middle; background: none; color: inherit; }
.hf td.number { text-align: right; font-variant-numeric: tabular-nums; }
.hf mark { background: var(--hf-mark); color: inherit; font-weight: 600; padding: 0 0.2em; }
.hf .hf-aside { color: var(--hf-soft); }
"""


def framed(*parts: str) -> str:
    """Parts of HTML with the style that they need."""
    return f'<div class="hf"><style>{STYLE}{_STYLE}</style>{"".join(parts)}</div>'


def heading(text: str) -> str:
    """A heading."""
    return f"<h4>{escape(text)}</h4>"


def lines(texts: Iterable[str]) -> str:
    """A paragraph for each text."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def bullets(texts: Sequence[str], more: int = 0) -> str:
    """A list of texts, and how many more there are."""
    left_out = f'<li class="hf-aside">… and {more:,} more</li>' if more > 0 else ""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}{left_out}</ul>" if texts else ""


# ---- rows side by side -----------------------------------------------------------------------------------------------


def pair_html(pair: Json) -> str:
    """Rows side by side, a line for each column, with the cells marked in which one looks for the fault."""
    columns, own = pair["columns"], pair["rule_columns"]
    shown = [*own, *[name for name in columns if name not in own][:_OTHERS]]
    places = [columns.index(name) for name in shown if name in columns]
    head = "".join(f"<th>{escape(row['name'])}{'' if row['alive'] else ' (gone)'}</th>" for row in pair["rows"])
    body = "".join(
        f"<tr><th>{escape(columns[place])}</th>"
        + "".join(_cell(row["values"][place], columns[place] in pair["marked"]) for row in pair["rows"])
        + "</tr>"
        for place in places
    )
    table = f"<table><thead><tr><th>column</th>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{escape(pair['sentence'])}</p>{table}"


def _cell(value: str, marked: bool) -> str:
    return f"<td><mark>{escape(value)}</mark></td>" if marked else f"<td>{escape(value)}</td>"


def witness_pair(engine: str, text: str, witness: Witness) -> Json | None:
    """The rows that broke a rule, side by side; nothing where their values are not kept, or its class has no words."""
    rule = rule_of(engine, text)
    if rule is None or not witness.values or not all(witness.values):
        return None
    keys = witness.keys or ({},) * len(witness.values)
    sides = [Side(*each) for each in zip(witness.rows, keys, witness.values, strict=True)]
    numeric = {name for side in sides for name, value in side.values.items() if isinstance(value, int | float)}
    columns = list(dict.fromkeys([*rule.columns, *sides[0].values]))
    return side_by_side(rule, sides, columns, Shown(), witness.sentence, numeric=numeric)


# ---- results ---------------------------------------------------------------------------------------------------------


@singledispatch
def html_of(result: Drawn) -> str:
    """What a notebook shows of a result, as HTML: of what `discover`, `check`, `suggest`, `Monitor` and `View` give.

    >>> import holdfast as hf, pyarrow as pa
    >>> "<td>key(id)</td>" in hf.html_of(hf.discover(pa.table({"id": [1, 2]}), "ucc"))
    True
    """
    raise TypeError(f"nobody says how to draw {type(result).__name__}")


@html_of.register
def _found(found: Found) -> str:
    return framed(_findings_html(*shown(found.ranked, _FINDINGS)))


def _findings_html(findings: Sequence[Mapping[str, Any]], totals: Totals | None = None) -> str:
    """The findings as HTML, a table for each section; `totals` says how many there are where not all are given."""
    parts = []
    for each in sections(findings, totals):
        parts.append(f"<h3>{escape(each.title)}</h3>")
        if each.lines:
            parts.append(html_table(each.table.headings, each.cells, each.table.numbers))
    return "".join(parts)


@html_of.register
def _suggestions(found: Suggestions) -> str:
    parts = [f"<h3>{escape(line)}</h3>" for line in shape_lines(found.shapes)]
    for section in found.sections():
        rows = [
            (
                "" if line.score is None else f"{line.score:.2f}",
                f"{line.to_remove:,}" if line.to_remove else "",
                line.text,
            )
            for line in section.lines
        ]
        headings = ("score", "rows to remove", section.heading)
        parts.append(html_table(headings, rows, headings[:2]))
    return framed(*parts, lines([found.unlisted_line()]))


@html_of.register
def _checked(checked: Checked) -> str:
    violated = Listings(listing for listing in checked.listings if listing.count)
    return framed(_findings_html(checked.to_json())) + (html_of(violated) if violated else "")


@html_of.register
def _listings(listings: Listings) -> str:
    """The first violations of each rule, as rows side by side."""
    parts = []
    for listing in listings:
        parts.append(heading(f"{listing.rule.name}: {listing.count:,} violations of {listing.rule.text}"))
        pairs = violations_page(listing, 0, _PAIRS)["violations"]
        parts += map(pair_html, pairs)
        if listing.pairs is None and listing.count:
            parts.append('<p class="hf-aside">Only their number is kept.</p>')
        elif listing.count > len(pairs):
            parts.append(f'<p class="hf-aside">… and {listing.count - len(pairs):,} more</p>')
    return framed(*parts)


@html_of.register
def _outcome(outcome: Outcome) -> str:
    """What a batch did, and the rows that broke the best of the rules that broke, side by side."""
    broken = [
        (-(diff.worth or {})[text].score if text in (diff.worth or {}) else 0.0, engine, text, witness)
        for (engine, _), diff in outcome.diffs.items()
        for text, witness in diff.witnesses.items()
    ]
    broken.sort(key=lambda each: each[0])
    parts = [_outcome_html(outcome)]
    for _, engine, text, witness in broken[: 4 * _PAIRS]:
        if len(parts) <= _PAIRS and (pair := witness_pair(engine, text, witness)) is not None:
            parts.append(heading(f"{text} broke") + pair_html(pair))
    return framed(*parts)


def _outcome_html(outcome: Outcome) -> str:
    """What a batch did: what changed of given rules, which rules broke or came, and what changed of facts."""
    batch = outcome.batch
    heading = f"batch {batch.seq}: {batch.inserted:,} rows inserted, {batch.deleted:,} deleted"
    headings = ("column or rule", "fact", "before", "after")
    own, facts = ([html_table(headings, changed)] if changed else [] for changed in outcome.change_lines())
    parts = [f"<h3>{escape(', '.join(batch.tables))}, {escape(heading)}</h3>", *own]
    parts += [] if own or facts else ["<p>No fact changed.</p>"]
    for title, listed in (*outcome.quarantine_lines(), *outcome.rule_lines()):
        parts.append(lines([title]) + bullets(listed))
    return "".join([*parts, *facts])


@html_of.register
def _lens(lens: Lens) -> str:
    parts = [heading(f"{lens.table}.{lens.name}"), lines([lens.summary()]), *lens.pictures]
    for kind, texts in lens.rules.items():
        parts.append(heading(kind) + bullets(texts[:_EACH], len(texts) - _EACH))
    return framed(*parts)


@html_of.register
def _state(state: StateSummary) -> str:
    headings = ("table", "rows", "columns", "key")
    rows = []
    for name, table in state.tables.items():
        schema = table.schema
        key = ", ".join(schema.names[place] for place in schema.key)
        rows.append((name, f"{table.rows:,}", f"{len(schema.columns):,}", key))
    title = heading(f"{state.path}: {state.batches:,} batches applied")
    fared = html_of(state.history) if len(state.history) else ""
    return framed(title, html_table(headings, rows, headings[1:3])) + fared


# ---- rules over time -------------------------------------------------------------------------------------------------


@html_of.register
def _history(fared: RuleHistory) -> str:
    """How rules fared: the first ones, with their strips."""
    rows = []
    for rule, line in islice(fared.by_rule(), _RULES):
        named = f"{line['name']}: {line['text']}" if "name" in line else line["text"]
        rows.append((named, _strip(fared, rule, violated=line["holds_since"] is None), _words(line)))
    return framed(_strips(f"{len(fared):,} rules", rows, len(fared) - len(rows)))


def _words(line: Json) -> str:
    return since(line["holds_since"]) + (f", broke {line['broke']:,} times" if line["broke"] else "")


def _strip(fared: RuleHistory, rule: RuleKey, violated: bool) -> str:
    """The strip of a rule that is violated now, or not; nothing where the state is closed."""
    try:
        return _drawn(fared.memory.events_of(*rule), rule, fared.last, violated)
    except ProgrammingError:  # the database is closed
        return ""


def _drawn(events: Sequence[Event], rule: RuleKey, last: int, violated: bool = False) -> str:
    """The strip of a rule, from what batches did to it, the oldest first; nothing where no batch has come."""
    turns, given = [turn_of(event) for event in events], rule_class(rule[0]).given
    fate = fate_of(turns, given, violated if given and not turns else None)
    return strip(fate.runs(last), f"how {rule[2]} fared with each batch", links=False)


def _strips(title: str, rules: Sequence[tuple[str, str, str]], more: int = 0) -> str:
    """Rules, each with its strip and a few words."""
    body = "".join(
        f"<tr><td>{escape(text)}</td><td>{picture}</td><td>{escape(words)}</td></tr>" for text, picture, words in rules
    )
    left_out = f'<p class="hf-aside">… and {more:,} more</p>' if more > 0 else ""
    return f"{heading(title)}<table><tbody>{body}</tbody></table>{left_out}"


@html_of.register
def _explanation(explained: Explanation) -> str:
    """Why a rule holds or doesn't: its strip, its lines, the table below them, and the rows that broke it last."""
    parts, events = [], explained.events
    if events:
        parts.append(_drawn(events, events[0].rule, explained.last))
    parts.append(lines(explained.lines()))
    if table := explained.table():
        parts.append(html_table(table.headings, table.rows, table.numbers))
    for event in reversed(events):
        if event.witness is not None and (pair := witness_pair(event.engine, event.text, event.witness)):
            parts.append(pair_html(pair))
            break
    return framed(*parts)
