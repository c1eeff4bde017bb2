"""What commands share: opening a state to read it, and printing results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import Format
from holdfast.engines.contract import RuleClass
from holdfast.engines.registry import found_classes, rule_class
from holdfast.engines.thresholds import SHOWN
from holdfast.lazy_rules import bounds
from holdfast.report.terminal import Terminal, TerminalProgress, say, say_json

if TYPE_CHECKING:
    from holdfast.advice.advice import Advice
    from holdfast.api.view import View
    from holdfast.changes.diff import Result
    from holdfast.engines.listing import Listing
    from holdfast.results.changed import Changed
    from holdfast.results.upkeep import Vacuumed, Verified
    from holdfast.store.backup import Backup


def names_of(classes: Iterable[RuleClass[Any]]) -> str:
    """The names of some classes of rules, for help texts."""
    return ", ".join(each.name for each in classes)


CLASSES = names_of(found_classes())


@contextmanager
def viewed(state: Path) -> Iterator[View]:
    """A view of a state, with progress on standard error."""
    from holdfast.api.view import View

    with TerminalProgress() as progress, View.open(state, progress=progress) as view:
        yield view


def print_findings(
    findings: list[dict[str, Any]],
    form: Format,
    top: int = SHOWN,
    requested: Iterable[str] = (),
    results: Sequence[Result] = (),
) -> None:
    """Print findings, and those of results (perhaps many), as tables or JSON; a line for each requested class without
    findings.
    """
    if form == "json":
        say_json(findings)
        say_json(finding.to_json() for result in results for finding in result.values())
        return
    from holdfast.report.tables import findings_tables

    console = Terminal()
    for table in findings_tables(findings, results, top):
        console.print(table)
    known = {finding["kind"] for finding in findings}
    known |= {first.kind for result in results for first in islice(result.values(), 1)}
    for kind in [kind for kind in requested if kind not in known]:
        bound = next((f" ({each})" for each in bounds(results) if each.kind == kind), "")
        console.print(f"no {rule_class(kind).title} found{bound}", markup=False)


def print_violations_json(listings: Iterable[Listing], limit: int | None) -> None:
    """Print each rule with the number of its violations, and then these, if they are stored as pairs."""
    for listing in listings:
        say_json([listing.to_json()])
        if listing.pairs is not None:
            say_json(listing.violations(limit))


def warn_unlisted(progress: TerminalProgress, findings: Iterable[Mapping[str, Any]]) -> None:
    """Warn if only the number of violations is stored."""
    for finding in findings:
        if not finding.get("listed", True):
            progress.note(
                f"rule {finding['name']}: {finding['violations']:,} violations, more than "
                f"{finding['pair_limit']:,}: only their number is stored, and not the pairs (see --pair-limit)"
            )


def print_as(form: Format, objects: Iterable[Mapping[str, Any]], print_text: Callable[[], object]) -> None:
    """Print objects as JSON, or what they say as text."""
    if form == "json":
        say_json(objects)
    else:
        print_text()


def print_result(result: Advice | Backup | Changed | Vacuumed | Verified, form: Format, before: str = "") -> None:
    """Print a result as JSON, one object or several, or as text."""
    plain = result.to_json()
    print_as(form, plain if isinstance(plain, list) else [plain], lambda: say(f"{before}{result}"))
