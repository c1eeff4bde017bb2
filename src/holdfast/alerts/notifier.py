"""What users hold: a notifier, which sends verdicts to targets while batches go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self

from holdfast.alerts import message
from holdfast.alerts.outbox import Outbox
from holdfast.alerts.sender import Sender, close_all
from holdfast.alerts.targets import target
from holdfast.errors import ExitCode
from holdfast.results.alarms import FailOn, most_bad
from holdfast.results.outcome import Outcome
from holdfast.store.records import BatchRecord

NotifyOn = Literal["alarm", "batch"]


class Notifier:
    """Sends verdicts on the batches of a state to targets, in threads of its own. Close it, or use it in a `with`
    statement: it then waits a few seconds for what is left, and keeps the rest in the outbox of the state.

    `targets` are texts such as `alerts.jsonl`, `command:mail -s alarm ops`, `https://…` or `slack:${SLACK_URL}`. With
    `on="alarm"` they hear of alarms and of input that was refused, with `batch` of every batch. Values are redacted
    unless `values` says otherwise, and those of sensitive columns always. `alarms` are targets that hear of alarms
    alone, whatever `on` is.

    With `watch` and `more` of the example of `Monitor`:

    >>> import json, pathlib
    >>> with hf.Notifier(watch.path, [f"{watch.path}.jsonl"]) as notifier:
    ...     notifier.applied(watch.apply(inserts=more))
    >>> json.loads(pathlib.Path(f"{watch.path}.jsonl").read_text())["verdict"]
    'Batch 1: 1 row. 1 rule failed.'
    """

    def __init__(
        self,
        state: str | Path,
        targets: str | Sequence[str],
        *,
        on: NotifyOn = "alarm",
        values: bool = False,
        alarms: Sequence[str] = (),
    ) -> None:
        self._state, self._values = Path(state), values
        self._outbox = Outbox(self._state) if self._state.is_dir() else None
        every = [targets] if isinstance(targets, str) else list(targets)
        wanted: dict[str, NotifyOn] = {**dict.fromkeys(alarms, "alarm"), **dict.fromkeys(every, on)}
        self._senders = [(Sender(target(written), self._outbox), own) for written, own in wanted.items()]
        self._said: set[str] = set()
        self._follows = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Send what an earlier process left."""
        for sender, _ in self._senders:
            sender.start()

    def applied(self, outcome: Outcome, fail_on: FailOn = "likely", max_bad: str = "1%") -> None:
        """Send the verdict on a batch to those that want it; `fail_on` and `max_bad` say what an alarm is."""
        if outcome.already_applied:
            return
        self._post(message.of_outcome(outcome, fail_on, most_bad(max_bad), self._values))
        if self._follows and self._outbox is not None:
            self._outbox.begin(outcome.batch.seq)

    def refused(self, reason: str, files: Sequence[str] = (), code: int = ExitCode.BAD_INPUT) -> None:
        """Send that some input was not applied, and why as far as values may be shown."""
        self._post(message.of_refusal(str(self._state), files, reason, code, self._values))

    def _post(self, said: Mapping[str, Any]) -> None:
        for sender, on in self._senders:
            if on == "batch" or said["exit_code"]:
                sender.post(said)

    @contextmanager
    def following(self, history: Sequence[BatchRecord]) -> Iterator[None]:
        """Note in the outbox that batches are to come, while the state is held for writing; `history` is that of the
        state, or the end of it. Where a process was killed between a batch and its verdict, the next one says so.
        """
        if self._outbox is None or not self._senders:
            yield
            return
        before = self._outbox.unfinished()
        lost = [each for each in history if before is not None and each.seq > before and not each.is_change]
        for each in lost:
            self._post(message.of_lost_verdict(str(self._state), each))
        self.start()
        self._outbox.begin(history[-1].seq if history else 0)
        self._follows = True
        try:
            yield
        finally:
            self._follows = False
            self._outbox.end()

    def troubles(self) -> list[str]:
        """Targets that don't take messages now, and were not named before."""
        now = {f"--notify {each.target.shown}: {each.trouble}" for each, _ in self._senders if each.trouble}
        new = sorted(now - self._said)
        self._said = now
        return new

    def close(self, seconds: float | None = None) -> list[str]:
        """Wait until all is delivered, 10 seconds at most; gives a sentence for each target that did not take all."""
        return close_all([sender for sender, _ in self._senders], seconds)


def notify(
    outcome: Outcome,
    targets: str | Sequence[str],
    *,
    on: NotifyOn = "alarm",
    values: bool = False,
    fail_on: FailOn = "likely",
    max_bad: str = "1%",
    seconds: float | None = None,
) -> list[str]:
    """Send the verdict on a batch to targets, if it is an alarm, and wait for that at most `seconds` (10 by default);
    gives a sentence for each target that did not take it. What is left is kept in the state, and sent with the next
    message to the same target. See `Notifier` for the targets, and to send while other batches go on.

    With `watch` and `more` of the example of `Monitor`:

    >>> hf.notify(watch.apply(inserts=more), f"{watch.path}.jsonl")
    []
    """
    notifier = Notifier(outcome.around.state, targets, on=on, values=values)
    notifier.applied(outcome, fail_on, max_bad)
    return notifier.close(seconds)
