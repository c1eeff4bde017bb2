"""The command that suggests rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Columns, Output, SourceList
from holdfast.cli.options import READING, taking
from holdfast.cli.printing import likely_names, print_json, terminal_progress
from holdfast.cli.tables import by_table, named, note_left_out, split, table_line
from holdfast.engines.thresholds import MAX_LHS, SHOWN
from holdfast.errors import BadInput
from holdfast.report.terminal import say
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions

_LIKELY = likely_names()


@app.command()
@taking(options=READING)
def suggest(
    sources: SourceList,
    *,
    rules: Annotated[str | None, typer.Option(help=f"Only these rule classes: {_LIKELY}.")] = None,
    columns: Columns = None,
    top: Annotated[int, typer.Option(min=1, help="Show at most N per class; with --to, write N rules.")] = SHOWN,
    max_lhs: Annotated[int, typer.Option(min=1, help="At most N columns in a left side or key.")] = MAX_LHS,
    every: Annotated[
        bool, typer.Option("--all", help="List every rule that was ranked, also what follows from others.")
    ] = False,
    to: Annotated[Path | None, typer.Option(help="Write what is shown as a rule file (.yaml).")] = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Suggest rules that the data seem to follow, exactly or nearly, and list the rows that break them.

    SOURCE may also be a state folder.
    Example: [b]holdfast suggest hospital.csv[/b], or [b]holdfast suggest hospital.csv --to rules.yaml[/b]
    """
    from holdfast.api.suggesting import is_state
    from holdfast.api.suggesting import suggest as find
    from holdfast.results.outputs import refuse_unwritable, write_text
    from holdfast.results.suggestions import RULES

    if to:
        refuse_unwritable(to, RULES)
    asked = split(rules) if rules else None
    if is_state(sources[0]):
        if len(sources) > 1 or columns:
            raise BadInput(f"{sources[0]} is a state, which knows its tables and columns; give it alone")
        from holdfast.api.view import View

        with terminal_progress() as progress, View.open(sources[0], progress=progress) as view:
            found = view.suggest(asked, max_lhs=max_lhs)
    else:
        tables = named(sources, options.jdbc_table)
        chosen = by_table("--columns", columns or [], tables)
        with terminal_progress() as progress:
            found = find(
                tables, asked, max_lhs=max_lhs, columns=chosen, nulls=nulls, options=options, progress=progress
            )
            note_left_out(progress, found.left_out, chosen)
    if form == "json":
        print_json(table_line(*shape, found.left_out.get(name, ())) for name, shape in found.shapes.items())
        print_json(found.to_json())
    else:
        from holdfast.report.suggestions import print_all, print_suggestions

        (print_all(found) if every else print_suggestions(found, top))
        say(f"took {found.seconds:,.1f} s", err=True)
    if to and not (count := len(found.rules(top).entries)):
        say(f"nothing looks as if it were meant, so {to} is not written", err=True)
    elif to:
        write_text(to, found.rules_text(top), RULES)
        say(
            f"wrote {count:,} rules to {to}; read them, delete what is not meant, and give the rest to check or init",
            True,
        )
