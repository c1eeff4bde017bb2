"""The violations of some rules."""

from __future__ import annotations

from holdfast.engines.listing import Listing
from holdfast.results.drawn import Drawn


class Listings(Drawn, list[Listing]):
    """The violations of some rules; in a notebook, the first of each with their rows side by side."""
