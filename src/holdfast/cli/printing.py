"""What commands share: names, a look at a state, and the printing of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.cli.arguments import Format
from holdfast.engines.contract import RuleClass
from holdfast.engines.registry import found_classes, rule_class, rule_classes
from holdfast.engines.thresholds import SHOWN
from holdfast.errors import ExitCode
from holdfast.lazy_rules import bounds
from holdfast.report.terminal import Terminal, TerminalProgress, say, say_json

if TYPE_CHECKING:
    from holdfast.api.view import View
    from holdfast.changes.diff import Result
    from holdfast.engines.listing import Listing
    from holdfast.results.outcome import Outcome


def names_of(classes: Iterable[RuleClass[Any]]) -> str:
    """The names of some classes of rules, for help."""
    return ", ".join(each.name for each in classes)


CLASSES = names_of(found_classes())


def given_classes() -> list[RuleClass[Any]]:
    """The classes whose rules are given."""
    return [each for each in rule_classes().values() if each.given]


@contextmanager
def viewed(state: Path) -> Iterator[View]:
    """A look at a state, with progress on standard error."""
    from holdfast.api.view import View

    with TerminalProgress() as progress, View.open(state, progress=progress) as view:
        yield view


def print_findings(
    findings: list[dict[str, Any]],
    form: Format,
    top: int = SHOWN,
    asked: Iterable[str] = (),
    results: Sequence[Result] = (),
) -> None:
    """Findings, and those of results that may be many, as tables or JSON; a class that was asked for and not found is
    said.
    """
    if form == "json":
        say_json(findings)
        say_json(finding.to_json() for result in results for finding in result.values())
        return
    from holdfast.report.tables import findings_tables, shown

    console = Terminal()
    some, totals = shown(results, top)
    for table in findings_tables([*findings, *some], totals, top):
        console.print(table)
    known = {finding["kind"] for finding in (*findings, *some)} | {kind for _, kind in totals}
    for kind in [kind for kind in asked if kind not in known]:
        bound = next((f" ({each})" for each in bounds(results) if each.kind == kind), "")
        console.print(f"no {rule_class(kind).title} found{bound}", markup=False)


def tell_outcome(outcome: Outcome, form: Format, fail_on: str, path: str = "") -> ExitCode:
    """What a batch did, as text or as JSON, and why it is an alarm or not; gives the exit code."""
    from holdfast.report.printing import print_outcome

    if form == "json":
        say_json([{**line, "file": path} if path else line for line in outcome.to_json()])
    else:
        print_outcome(outcome, Path(path).name or None)
    code = ExitCode.RULE_BROKE if outcome.alarms(fail_on) else ExitCode.ALL_WELL
    if why := outcome.why(fail_on):
        say(f"{f'exit code {code}' if code else 'no alarm'}: {why}", err=True)
    return code


def print_listings(listings: Iterable[Listing], limit: int, rows: bool) -> None:
    """The first violations of each rule."""
    from holdfast.report.printing import print_listing

    for listing in listings:
        print_listing(listing, limit, rows)


def print_violations_json(listings: Iterable[Listing], limit: int | None) -> None:
    """Each rule with the number of its violations, and then these, as far as they are kept as pairs."""
    for listing in listings:
        say_json([listing.to_json()])
        if listing.pairs is not None:
            say_json(listing.violations(limit))


def warn_unlisted(progress: TerminalProgress, findings: Iterable[Mapping[str, Any]]) -> None:
    """Warn where only the number of violations is kept."""
    for finding in findings:
        if not finding.get("listed", True):
            progress.note(
                f"rule {finding['name']}: {finding['violations']:,} violations, more than the "
                f"{finding['pair_limit']:,} that are kept as pairs; only their number is kept (--pair-limit raises it)"
            )


class Telling(Protocol):
    """A result with a text and an object of its own."""

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""


def tell(result: Telling, form: Format, about: str = "") -> None:
    """A result as JSON, or as text behind what it is about."""
    if form == "json":
        say_json([result.to_json()])
    else:
        say(f"{about}{result}")
