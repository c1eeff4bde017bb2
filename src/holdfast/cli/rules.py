"""The commands that change the rules of a state and keep its history."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from holdfast.cli.arguments import Format, TableName
from holdfast.cli.changing import StateChange, changing, commands_of_state
from holdfast.cli.options import settings_of, taking
from holdfast.cli.printing import CLASSES
from holdfast.engines.registry import found_classes
from holdfast.errors import BadInput
from holdfast.report.terminal import say, say_json

Undo = Annotated[bool, typer.Option("--undo", help="Take it back.")]
Rule = Annotated[str, typer.Argument(metavar="RULE", help='The rule, such as [b]"Zip -> State"[/b].')]
RuleFiles = Annotated[
    list[str], typer.Argument(metavar="FILE…", help="Rule files, or rules such as [b]'Zip -> State'[/b].")
]


def _show(state: Path, form: Format) -> None:
    """Print the given rules as a rule file, and the found ones that are pinned or ignored."""
    from holdfast.api.change.spec import state_rules

    given, marks, watched = state_rules(state)
    if form == "json":
        names = ("name", "table", "text", "severity", "note")
        lines = [
            {"kind": "rule", **{name: getattr(each, name) for name in names}}
            | ({"origin": each.origin} if each.origin else {})
            for each in given.entries
        ]
        say_json([*lines, *marks.to_json(), {"kind": "watched", "classes": watched}])
        return
    say(str(given).rstrip())
    for muted in (each for each in given.entries if each.origin == "muted"):
        say(f"# muted: {muted.name}")
    say(f"# watched classes: {', '.join(watched) or 'none'}")
    for mark in marks.to_json():
        say(f"# {mark['mark']}: {mark['text']}" + (f" (of {mark['table']})" if mark["table"] != "*" else ""))


rules = commands_of_state(
    "rules",
    "Show and change the rules of a state; its history stays.\n\n"
    "Example: [b]holdfast rules state/ add more.yaml[/b], [b]holdfast rules state/ promote 'Zip -> State'[/b]",
    _show,
)


@rules.command()
@taking(change=changing)
def add(
    files: RuleFiles,
    table: Annotated[str | None, typer.Option("--table", help="The table of rules without one.")] = None,
    *,
    change: StateChange,
) -> None:
    """Add rules. A rule that is already there gets the name, severity and note of the file."""
    change.make(lambda monitor: monitor.add_rules(_one_or_all(files), table=table, change_id=change.id))


@rules.command()
@taking(change=changing)
def remove(
    files: Annotated[list[str], typer.Argument(metavar="RULE…", help="Names or texts of rules, or one rule file.")],
    *,
    change: StateChange,
) -> None:
    """Remove rules. Their history stays."""
    change.make(lambda monitor: monitor.remove_rules(_one_or_all(files), change_id=change.id))


@rules.command()
@taking(change=changing)
def edit(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The new rules; without a file, an editor opens.")
    ] = None,
    *,
    change: StateChange,
) -> None:
    """Replace the rules by those of a file: remove others, add new ones, and keep the history of the rest."""
    if file is not None:
        change.make(lambda monitor: monitor.replace_rules(file, change_id=change.id))
        return
    from holdfast.api.change.spec import state_rules

    text = str(state_rules(change.state)[0]).encode()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
    own = folder / "rules.yaml"
    own.write_bytes(text)
    try:
        _open_editor(own)
        if own.read_bytes() == text:
            say("nothing changed")
        else:
            change.make(lambda monitor: monitor.replace_rules(own, change_id=change.id))
    except BadInput as error:
        if own.read_bytes() == text:
            shutil.rmtree(folder)
            raise
        raise BadInput(f"{error}; your text is saved: correct it, and run: edit {own}") from None
    shutil.rmtree(folder)


def _open_editor(file: Path) -> None:
    """Let the user edit a file with the chosen editor."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), str(file)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BadInput(f"the editor {editor!r} can't be used ({error}); set EDITOR, or give a FILE") from None


@rules.command()
@taking(change=changing)
def promote(
    rule: Rule,
    name: Annotated[str | None, typer.Option(help="A name for the rule.")] = None,
    severity: Annotated[Literal["error", "warn"], typer.Option(help="The severity of its violations.")] = "error",
    note: Annotated[str, typer.Option(help="What the rule is for.")] = "",
    table: TableName = None,
    *,
    change: StateChange,
) -> None:
    """Make a found rule a given one: it stays when it breaks, and its violations are listed."""
    change.make(
        lambda monitor: monitor.promote(
            rule, name=name, severity=severity, note=note, table=table, change_id=change.id
        ),
    )


@rules.command()
@taking(change=changing)
def accept(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The name of a given rule, or its text.")],
    table: TableName = None,
    undo: Undo = False,
    *,
    change: StateChange,
) -> None:
    """Accept the violations that a rule has now: they are counted and shown, and only new ones are an alarm."""
    change.make(lambda monitor: monitor.accept(rule, table=table, undo=undo, change_id=change.id))


@rules.command()
@taking(change=changing)
def unmute(rule: Rule, *, change: StateChange) -> None:
    """Have a suggested rule speak again that muted itself, as new rows broke it as often as chance does."""
    change.make(lambda monitor: monitor.unmute(rule, change_id=change.id))


@rules.command()
@taking(change=changing)
def budget(
    breaks: Annotated[
        float,
        typer.Argument(
            metavar="NUMBER", min=0.0, help="How many breaks by chance errors may have in 100 usual batches, as 0.1."
        ),
    ],
    *,
    change: StateChange,
) -> None:
    """Change the alarm budget: which suggested rules are errors, by how often chance breaks them."""
    change.make(lambda monitor: monitor.alarm_budget(breaks, change_id=change.id))


@rules.command()
@taking(change=changing)
def ignore(rule: Rule, table: TableName = None, undo: Undo = False, *, change: StateChange) -> None:
    """Ignore a found rule: when it breaks, that is not an alarm, and pages show it last."""
    change.make(lambda monitor: monitor.ignore(rule, table=table, undo=undo, change_id=change.id))


@rules.command()
@taking(change=changing)
def pin(rule: Rule, table: TableName = None, undo: Undo = False, *, change: StateChange) -> None:
    """Pin a found rule: when it breaks, that is an alarm whatever its score is, and pages show it first."""
    change.make(lambda monitor: monitor.pin(rule, table=table, undo=undo, change_id=change.id))


@rules.command()
@taking(change=changing, settings=settings_of(found_classes()))
def watch(
    classes: Annotated[str, typer.Argument(metavar="CLASSES", help=f"Rule classes, separated by commas: {CLASSES}.")],
    *,
    settings: dict[str, Any],
    change: StateChange,
) -> None:
    """Find the rules of more classes, and watch them from now on."""
    change.make(lambda monitor: monitor.watch(classes, change_id=change.id, **settings))


@rules.command()
@taking(change=changing)
def unwatch(
    classes: Annotated[str, typer.Argument(metavar="CLASSES", help="Rule classes, separated by commas.")],
    *,
    change: StateChange,
) -> None:
    """Stop watching the rules of some classes. Their history stays."""
    change.make(lambda monitor: monitor.unwatch(classes, change_id=change.id))


def _one_or_all(files: list[str]) -> str | list[str]:
    """One rule file, or one or more rules."""
    from holdfast.api.checks import is_rule_file

    if len(files) > 1 and any(map(is_rule_file, files)):
        raise BadInput("give either one rule file, or rules as texts")
    return files[0] if len(files) == 1 else files
