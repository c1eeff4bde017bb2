"""What notebooks show: the pictures of the page, rows side by side, and tables, as HTML with its style.

Every value, name and text of others passes `escape` here or in the pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.changes.diff import Witness
from holdfast.changes.naming import short_names
from holdfast.engines.listing import Listing
from holdfast.report.document.details import rule_of
from holdfast.report.document.listed import violations_page
from holdfast.report.document.shown import Shown
from holdfast.report.pages import escape, outcome_html
from holdfast.report.pictures import STYLE
from holdfast.report.values import Outcome
from holdfast.rules.sentences import why

Json = Mapping[str, Any]

_PAIRS = 3  # pairs of rows that are shown of a rule, or of a batch
_OTHERS = 6  # columns that a rule does not look at
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
    shown, values = Shown(), witness.values
    keys = witness.keys or ({},) * len(values)
    numeric = {name for row in values for name, value in row.items() if isinstance(value, int | float)}
    said = why(rule, values, short_names(witness.rows, witness.keys), show=shown.value, numeric=numeric)
    columns = list(dict.fromkeys([*rule.columns, *values[0]]))
    rows = [
        {
            "name": shown.name(witness.rows[place], keys[place], values[place], rule.columns),
            "alive": True,
            "values": [shown.value(values[place].get(name)) for name in columns],
        }
        for place in said.order
    ]
    sentence = said.closed or witness.sentence
    return {
        "sentence": sentence, "columns": columns, "rule_columns": list(rule.columns),
        "marked": said.marked, "rows": rows,
    }  # fmt: skip


def listings_html(listings: Sequence[Listing]) -> str:
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


def told_outcome_html(outcome: Outcome) -> str:
    """What a batch did, and the rows that broke the best of the rules that broke, side by side."""
    broken = [
        (-(diff.worth or {})[text].score if text in (diff.worth or {}) else 0.0, engine, text, witness)
        for (engine, _), diff in outcome.diffs.items()
        for text, witness in diff.witnesses.items()
    ]
    broken.sort(key=lambda each: each[0])
    parts = [outcome_html(outcome)]
    for _, engine, text, witness in broken[: 4 * _PAIRS]:
        if len(parts) <= _PAIRS and (pair := witness_pair(engine, text, witness)) is not None:
            parts.append(heading(f"{text} broke") + pair_html(pair))
    return framed(*parts)


# ---- rules over time -------------------------------------------------------------------------------------------------


def strips_html(title: str, rules: Sequence[tuple[str, str, str]], more: int = 0) -> str:
    """Rules, each with its strip and a few words."""
    body = "".join(
        f"<tr><td>{escape(text)}</td><td>{picture}</td><td>{escape(words)}</td></tr>" for text, picture, words in rules
    )
    left_out = f'<p class="hf-aside">… and {more:,} more</p>' if more > 0 else ""
    return f"{heading(title)}<table><tbody>{body}</tbody></table>{left_out}"
