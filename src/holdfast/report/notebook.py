"""What notebooks show: the pictures of the page, rows side by side, and tables, as HTML with its style.

`html_of` draws any result with the function for its class. Every value, name and text from outside is escaped, here or
in the pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import islice
from sqlite3 import ProgrammingError

from holdfast.changes.diff import Result, Witness
from holdfast.engines.contract import Json
from holdfast.engines.registry import rule_class
from holdfast.report.bundle import site_text
from holdfast.report.document.details import rule_of, side_by_side, violations_page
from holdfast.report.document.shown_row import ShownRow
from holdfast.report.document.timeline import timeline_of, turn_of
from holdfast.report.pictures import escape, strip
from holdfast.report.tables import sections
from holdfast.results.agree_sets import AgreeSetChange, AgreeSets
from holdfast.results.checked import Checked, Listings
from holdfast.results.column import ColumnProfile
from holdfast.results.drawn import Drawn, shape_lines
from holdfast.results.explanation import Explanation
from holdfast.results.found import Found
from holdfast.results.history import RuleHistory, StateSummary, since
from holdfast.results.memory import Event, RuleKey
from holdfast.results.outcome import Outcome
from holdfast.results.redaction import ShownValues
from holdfast.results.suggestions import Suggestions
from holdfast.rules.names import titled
from holdfast.visible import counted

_PAIRS = 3  # pairs of rows that are shown for a rule, or for a batch
_OTHERS = 6  # columns that the rule does not name
_RULES = 20  # rules of a history
_EACH = 10  # rules of a kind that name a column
_FINDINGS = 1000  # of a class of rules that were found


def framed(*parts: str) -> str:
    """Parts of HTML with the style that they need."""
    return f'<div class="hf"><style>{site_text("notebook.css")}</style>{"".join(parts)}</div>'


def heading(text: str) -> str:
    """A heading."""
    return f"<h4>{escape(text)}</h4>"


def lines(texts: Iterable[str]) -> str:
    """A paragraph for each text."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def bullets(texts: Sequence[str], more: int = 0) -> str:
    """A list of texts, and how many more there are."""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}{_more(more, 'li')}</ul>" if texts else ""


def _more(more: int, tag: str = "p") -> str:
    """How many more things there are, if any."""
    return f'<{tag} class="hf-aside">… and {more:,} more</{tag}>' if more > 0 else ""


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[str] = ()) -> str:
    """An HTML table of plain texts."""
    opened = ['<td class="number">' if heading in numeric else "<td>" for heading in headings]
    cells = ([f"{start}{escape(cell)}</td>" for start, cell in zip(opened, row, strict=True)] for row in rows)
    return _of_cells(headings, cells)


def _of_cells(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table, given the HTML of its cells."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


# ---- rows side by side -----------------------------------------------------------------------------------------------


def pair_html(pair: Json) -> str:
    """Rows side by side, a line for each column, with the cells at fault marked."""
    columns, own = pair["columns"], pair["rule_columns"]
    shown = [*own, *[name for name in columns if name not in own][:_OTHERS]]
    places = [columns.index(name) for name in shown if name in columns]
    headings = ["column", *(f"{row['name']}{'' if row['alive'] else ' (gone)'}" for row in pair["rows"])]
    rows = [
        [f"<th>{escape(name)}</th>", *(_value(row["values"][place], name in pair["marked"]) for row in pair["rows"])]
        for place, name in ((place, columns[place]) for place in places)
    ]
    return f"<p>{escape(pair['sentence'])}</p>{_of_cells(headings, rows)}"


def _value(value: str, marked: bool) -> str:
    return f"<td><mark>{escape(value)}</mark></td>" if marked else f"<td>{escape(value)}</td>"


def witness_pair(engine: str, text: str, witness: Witness) -> Json | None:
    """The rows that broke a rule, side by side; None: their values are not stored, or the class has no rules."""
    rule = rule_of(engine, text)
    if rule is None or not witness.values or not all(witness.values):
        return None
    keys = witness.keys or ({},) * len(witness.values)
    sides = [ShownRow(*each) for each in zip(witness.rows, keys, witness.values, strict=True)]
    numeric = {name for side in sides for name, value in side.values.items() if isinstance(value, int | float)}
    columns = list(dict.fromkeys([*rule.columns, *sides[0].values]))
    return side_by_side(rule, sides, columns, ShownValues(), witness.sentence, numeric=numeric)


# ---- results ---------------------------------------------------------------------------------------------------------


@singledispatch
def html_of(result: Drawn) -> str:
    """A result as HTML, as notebooks show it: what `discover`, `check`, `suggest`, `Monitor` and `View` return.

    >>> import holdfast as hf, pyarrow as pa
    >>> "<td>key(id)</td>" in hf.html_of(hf.discover(pa.table({"id": [1, 2]}), "ucc"))
    True
    """
    raise TypeError(f"no function draws {type(result).__name__}")


@html_of.register
def _found(found: Found) -> str:
    return framed(_findings_html((), found.ranked))


def _findings_html(findings: Sequence[Json], results: Sequence[Result] = ()) -> str:
    """The findings as HTML, a table for each section."""
    parts = []
    for each in sections(findings, results, _FINDINGS):
        parts.append(f"<h3>{escape(each.title)}</h3>")
        if each.rows:
            parts.append(html_table(each.headings, each.rows, each.numbers))
    return "".join(parts)


@html_of.register
def _suggestions(found: Suggestions) -> str:
    parts = [f"<h3>{escape(line)}</h3>" for line in shape_lines(found.shapes)]
    for section in found.sections():
        headings = ("score", "rows to remove", "breaks", section.heading)
        parts.append(html_table(headings, [line.cells for line in section.lines], headings[:3]))
    return framed(*parts, lines(found.last_lines()))


@html_of.register
def _checked(checked: Checked) -> str:
    violated = Listings(listing for listing in checked.listings if listing.count)
    return framed(_findings_html(checked.to_json())) + (html_of(violated) if violated else "")


@html_of.register
def _listings(listings: Listings) -> str:
    """The first violations of each rule, as rows side by side."""
    parts = []
    for listing in listings:
        parts.append(heading(f"{listing.rule.name}: {counted(listing.count, 'violation')} of {listing.rule.text}"))
        pairs = violations_page(listing, 0, _PAIRS, ShownValues())["violations"]
        parts += map(pair_html, pairs)
        if listing.pairs is None and listing.count:
            parts.append('<p class="hf-aside">Only their number is stored.</p>')
        else:
            parts.append(_more(listing.count - len(pairs)))
    return framed(*parts)


@html_of.register
def _outcome(outcome: Outcome) -> str:
    """What a batch did, and the rows that broke the best rules, side by side."""
    broken = [
        (-diff.score(text), engine, text, witness)
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
    """The verdict, the rules that got worse with their rows, and the rules that came and went."""
    verdict = outcome.verdict()
    parts = [f"<h3>{escape(outcome.lines()[0])}</h3>"]
    parts += [lines([block.heading]) + bullets(block.rows) for block in verdict.blocks()]
    parts += [lines(last)] if (last := verdict.last_lines()) else []
    said = {each.key for each in verdict.worse}
    for title, listed in (*outcome.quarantine_lines(), *outcome.rule_lines(said=said)):
        parts.append(lines([title]) + bullets(listed))
    return "".join(parts)


@html_of.register
def _lens(lens: ColumnProfile) -> str:
    parts = [heading(f"{lens.table}.{lens.name}"), lines([lens.summary()]), *lens.pictures]
    for kind, texts in lens.rules.items():
        parts.append(heading(kind) + bullets(texts[:_EACH], len(texts) - _EACH))
    return framed(*parts)


@html_of.register
def _agree_sets(found: AgreeSets) -> str:
    """The largest agree-sets."""
    page, every = found.page(), max(found.all_pairs, 1)
    rows = [(f"{each.pairs:,}", f"{each.pairs / every:.4%}", each.in_words) for each in page]
    headings = ("pairs", "share", "rows agree on")
    return framed(heading(found.heading), html_table(headings, rows, headings[:2]), _more(len(found) - len(page)))


@html_of.register
def _agree_set_change(change: AgreeSetChange) -> str:
    """The largest agree-sets that came, and that went."""
    parts = [heading(change.heading)]
    for title, sets in change.page().sections():
        rows = [(f"{each.pairs:,}", each.in_words) for each in sets]
        parts += [lines([title]), html_table(("pairs", "rows agree on"), rows, ("pairs",))]
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
    history = html_of(state.history) if len(state.history) else ""
    return framed(title, html_table(headings, rows, headings[1:3])) + history


# ---- rules over time -------------------------------------------------------------------------------------------------


@html_of.register
def _history(history: RuleHistory) -> str:
    """The first rules of a history, each with its strip and a few words."""
    first = list(islice(history.by_rule(), _RULES))
    table = _of_cells((), (_history_cells(history, rule, line) for rule, line in first))
    return framed(heading(f"{len(history):,} rules"), table, _more(len(history) - len(first)))


def _history_cells(history: RuleHistory, rule: RuleKey, line: Json) -> list[str]:
    name = titled(line.get("name", ""), line["text"])
    words = since(line["holds_since"]) + (f", broke {counted(line['broke'], 'time')}" if line["broke"] else "")
    try:
        picture = _strip(history.memory.events_of(*rule), rule, history.last, line["holds_since"] is None)
    except ProgrammingError:  # the database is closed
        picture = ""
    return [f"<td>{each}</td>" for each in (escape(name), picture, escape(words))]


def _strip(events: Sequence[Event], rule: RuleKey, last: int, violated: bool = False) -> str:
    """The strip of a rule, from its events, the oldest first; empty if no batch has come."""
    turns, given = [turn_of(event) for event in events], rule_class(rule[0]).given
    timeline = timeline_of(turns, given, violated if given and not turns else None)
    return strip(timeline.spans(last), f"{rule[2]}, batch by batch", links=False)


@html_of.register
def _explanation(explained: Explanation) -> str:
    """Why a rule holds or doesn't: its strip, its lines, the table below them, and the rows that broke it last."""
    parts, events = [], explained.events
    if events:
        parts.append(_strip(events, events[0].rule, explained.last))
    parts.append(lines(explained.lines()))
    if table := explained.table():
        parts.append(html_table(table.headings, table.rows, table.numbers))
    for event in reversed(events):
        if event.witness is not None and (pair := witness_pair(event.engine, event.text, event.witness)):
            parts.append(pair_html(pair))
            break
    return framed(*parts)
