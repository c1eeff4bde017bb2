"""How a given rule stands: the facts of the table, figures that move with every row, and its track record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.changes.diff import Worth
from holdfast.engines.given.baseline import Baseline
from holdfast.engines.given.grace import Grace
from holdfast.engines.given.keeper import Effect, Tally
from holdfast.engines.given.track_record import TrackRecord
from holdfast.rules.given import Named
from holdfast.table.change import Batch
from holdfast.visible import accepted_words, counted


@dataclass(frozen=True)
class Status:
    """How a rule stands. Equality ignores figures and the track record: only facts of the table count."""

    named: Named[Any]
    tally: Tally
    shown: str = field(default="violations of", compare=False)
    track: TrackRecord | None = field(default=None, compare=False)
    baseline: Baseline | None = None  # where its violations of some moment are accepted
    grace: Grace | None = field(default=None, compare=False)  # of a rule that has one

    def __repr__(self) -> str:
        thing, _, rest = self.shown.partition(" ")
        holds = "does not hold" if self.violations else "holds"
        of_table = self.tally.said and f"{self.text} {holds}; {self.tally.said}"
        said = of_table or f"{counted(self.violations, thing.removesuffix('s'))} {rest} {self.text}"
        return f"{self.named.name}: {said}{accepted_words(self.violations, self.accepted)}"

    @property
    def violations(self) -> int:
        """How many violations it has."""
        return self.tally.violations

    @property
    def accepted(self) -> int | None:
        """How many of them are accepted; None: nobody accepted any."""
        return None if self.baseline is None else self.violations - self.baseline.open

    @property
    def open(self) -> int:
        """How many of them are not accepted."""
        return self.violations if self.baseline is None else self.baseline.open

    @property
    def kind(self) -> str:
        """Its class."""
        return str(self.named.rule.kind)

    @property
    def text(self) -> str:
        """The rule."""
        return self.named.text

    @property
    def worth(self) -> Worth | None:
        """What speaks for it, where its keeper measures that."""
        figures = self.tally.figures
        return Worth(figures["score"], figures["support"]) if "support" in figures else None

    @property
    def is_noise(self) -> bool:
        """Whether it is a suggested rule that new rows break as often as chance does. One whose violations are errors
        raised an alarm when rows broke it, and speaks on.
        """
        if self.track is None or self.named.origin != "suggested" or self.named.severity == "error":
            return False
        exceptions = max(self.violations - self.track.broke, 0)
        return self.track.is_noise(exceptions, max(self.tally.figures["support"] - self.track.tested, 0))

    def with_tally(self, tally: Tally) -> Status:
        """The same where its keeper says how the rule stands now."""
        return replace(self, tally=tally if self.grace is None else self.grace.of(tally))

    @property
    def waiting(self) -> str:
        """Which rows wait for a partner, or have found one with the last batch, in words."""
        return "" if self.grace is None else self.grace.said(self.text)

    @property
    def remembered(self) -> Mapping[str, Any] | None:
        """What a state stores of it that the tables don't say; None: nothing."""
        grace = {} if self.grace is None else {"grace": self.grace.to_json()}
        accepted = {} if self.baseline is None else self.baseline.to_json()
        return {**accepted, **grace} or None

    def recalled(self, stored: Mapping[str, Any] | None) -> Status:
        """The same with what a state stores."""
        known = stored or {}
        baseline = Baseline.from_json(known) if "open" in known else None
        grace = self.grace and Grace.from_json(known.get("grace", ()))
        return replace(self, baseline=baseline, grace=grace)

    def after(self, tally: Tally, effect: Effect, batch: Batch) -> Status:
        """How the rule stands after a batch; this status where nothing moved."""
        track = self.track and self.track.then(effect.tested, effect.broke)
        baseline = self.baseline and self.baseline.after(self.named, self.tally, tally, effect, batch)
        now = Status(self.named, tally, self.shown, track, baseline, self.grace)
        return now if now != self or now.moved(self) else self

    def moved(self, before: Status) -> bool:
        """Whether any figure is another than before."""
        figures = self.tally.figures != before.tally.figures
        return (
            figures or self.track != before.track or self.baseline is not before.baseline or self.grace != before.grace
        )

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rule = self.named.rule
        counts: dict[str, Any] = {"violations": self.violations, "counted": rule.counted}
        if self.accepted is not None:
            counts["accepted"] = self.accepted
        figures = {name: round(each, 6) if name == "score" else each for name, each in self.tally.figures.items()}
        return self.named.to_json({**rule.about, **counts, **self.tally.facts, **figures, **self._track_json()})

    def _track_json(self) -> Mapping[str, Any]:
        if self.track is None:
            return {}
        trust = self.track.trust(self.tally.figures["score"])
        return {"tested_since": self.track.tested, "broke_since": self.track.broke, "trust": round(trust, 6)}
