"""Canonical order dependencies: which columns are constant, and which never swap, within the groups of others."""

from __future__ import annotations
