"""A state that others change while pages show it: what pages need of it, cached until the next change.

One thread checks twice a second, for all pages, whether anything was committed, and lets the view follow. Tables and
listings are values, so a page is cut from a listing without a lock; any use of the view itself holds the lock.

Invariant: the cache was made from the view as it is now; `number` grows with each change.
Cost: a look at an unchanged state is one question to SQLite. A listing of a million violations takes 16 MB.
"""

from __future__ import annotations

import gzip
import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from holdfast.api.view import View
from holdfast.engines.listing import Listing
from holdfast.errors import HoldfastError, clear_sentences
from holdfast.report.bundle import compact_json
from holdfast.report.document.details import violations_page
from holdfast.results.redaction import shown_values
from holdfast.store.layout import DATABASE

_log = logging.getLogger(__name__)
_SECONDS = 0.5  # between two looks
_PATIENCE = 2.0  # seconds that the end waits for a look
_MOST_PAIRS = 4_000_000  # of all cached listings together

Hear = Callable[[int | None], None]  # called with the last batch when batches arrived, and with None at the end


@dataclass(frozen=True)
class CompressedDocument:
    """A document as it is sent: JSON, compressed."""

    content: bytes
    tag: str  # changes with the content


@dataclass
class _Moment:
    """What was made from the state since it changed last."""

    number: int
    seq: int
    document: CompressedDocument | None = None
    listings: dict[str, Listing] = field(default_factory=dict)  # the last used one is last


class Live:
    """A state, followed from `start` until `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._view = View.open(path)
        self._stamp = _stamp(path)
        self._lock = threading.Lock()
        self._moment = _Moment(0, self._last_batch())
        self._trouble: HoldfastError | None = None
        self._ends = threading.Event()
        self._listeners: set[Hear] = set()
        self._run = secrets.token_hex(4)  # tags of another run mean nothing here
        self._thread = threading.Thread(target=self._follow, name="follow", daemon=True)

    def start(self) -> None:
        """Follow from now on."""
        self._thread.start()

    def hush(self) -> None:
        """Let all listeners know that there will be no more news."""
        self._ends.set()
        for hear in list(self._listeners):
            hear(None)

    def close(self) -> None:
        """Let go of the state."""
        self.hush()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        if not self._thread.is_alive():  # otherwise it makes a large document, and ends with the process
            self._view.close()

    # ---- following ---------------------------------------------------------------------------------------------------

    def listen(self, hear: Hear) -> Callable[[], None]:
        """Call `hear` with news of batches, from another thread; gives a function that ends that."""
        self._listeners.add(hear)
        if self._ends.is_set():
            hear(None)
        return lambda: self._listeners.discard(hear)

    @property
    def seq(self) -> int:
        """The last batch."""
        return self._moment.seq

    def _follow(self) -> None:
        self._prepare(())
        pause = _SECONDS
        while not self._ends.wait(pause):
            started = perf_counter()
            try:
                self.look()
            except Exception:
                _log.exception("an error of ours, while following the state")
            pause = max(_SECONDS, perf_counter() - started)  # where documents take long, others get half of the time

    def look(self) -> None:
        """Check whether anything was committed; then notify the listeners, and make the cached parts again."""
        number, rules = self._moment.number, tuple(self._moment.listings)
        try:
            with self._lock, clear_sentences(self.path):
                if self._catch_up() or self._trouble is not None:
                    self._moment = _Moment(number + 1, self._last_batch())  # drops the cached listings
                self._trouble = None
        except HoldfastError as error:  # such as a state that was removed: it may come back
            self._trouble = error
            return
        if self._moment.number > number:
            for hear in list(self._listeners):
                hear(self._moment.seq)
            if self._listeners:
                self._prepare(rules)

    def _catch_up(self) -> bool:
        """Let the view follow; or open a new one where another state lies here now."""
        found = _stamp(self.path)
        if found == self._stamp:
            return self._view.follow()
        fresh = View.open(self.path)
        self._view.close()
        self._view, self._stamp = fresh, found
        return True

    def _prepare(self, rules: tuple[str, ...]) -> None:
        """Make what pages will probably need next, so that nobody waits for it: listings first, as they are quick."""
        with suppress(HoldfastError):  # the next request gets the error
            for rule in rules:
                self.listing(rule)
            self.document()

    def _last_batch(self) -> int:
        history = self._view.history(1)
        return history[-1].seq if history else 0

    # ---- what pages need ---------------------------------------------------------------------------------------------

    def tag(self) -> str:
        """The tag of the document as it is now."""
        return f'"{self._run}-{self._moment.number}"'

    def document(self) -> CompressedDocument:
        """All that a page shows, made once after each change."""
        with self._lock:
            self._refuse_trouble()
            moment = self._moment
            if moment.document is None:
                content = gzip.compress(compact_json(self._view.document(live=True)), 6, mtime=0)
                moment.document = CompressedDocument(content, self.tag())
            return moment.document

    def listing(self, rule: str) -> Listing:
        """The violations of a rule, by its name or text."""
        found = self._moment.listings.get(rule)
        if found is not None and self._trouble is None:
            return found
        with self._lock:
            self._refuse_trouble()
            cached = self._moment.listings
            cached[rule] = found = cached.pop(rule, None) or self._view.violations(rule)[0]
            while len(cached) > 1 and sum(map(_pairs, cached.values())) > _MOST_PAIRS:
                del cached[next(iter(cached))]
        return found

    def page_of_violations(self, rule: str, first: int, count: int) -> dict[str, Any]:
        """Some violations of a rule, from a number on."""
        listing = self.listing(rule)
        with self._lock:
            sensitive = self._view.sensitive_columns()
        return violations_page(listing, first, count, shown_values(redact=False, sensitive=sensitive))

    def _refuse_trouble(self) -> None:
        if self._trouble is not None:
            raise self._trouble


def _pairs(listing: Listing) -> int:
    return 0 if listing.pairs is None else len(listing.pairs)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What distinguishes a database from another one that replaced it."""
    try:
        about = (path / DATABASE).stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
