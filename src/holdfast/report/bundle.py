"""A page as one file: the template, its style, its script and the document, in one text.

The page contains the document deflated, in base64, and its script unpacks it. The content security policy allows only
this script and this style, by their hashes, and no address except that of a live page itself.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from holdfast.report.pictures import escape

_SITE = files("holdfast.report") / "site"
_START = "app.js"  # starts the page


def html_page(document: Mapping[str, Any]) -> str:
    """The page with a document; it makes no requests."""
    return _page(str(document["title"]), packed(document).decode("ascii"), "'none'")


def html_shell(title: str) -> str:
    """The page without a document: it requests one from its server."""
    return _page(title, "", "'self'")


def packed(document: Mapping[str, Any]) -> bytes:
    """A document in its page: JSON, deflated, in base64."""
    # A higher level takes ten times as long, and a million rules get larger.
    return b64encode(zlib.compress(compact_json(document), 6))


def compact_json(document: Mapping[str, Any]) -> bytes:
    """A document as JSON, without spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def live_policy() -> str:
    """The content security policy of the page without a document."""
    return _policy("'self'")


def _policy(reachable: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(_script())}; style-src {_hash(site_text('page.css'))}; img-src data:; "
        f"connect-src {reachable}; base-uri 'none'; form-action 'none'"
    )


def _page(title: str, data: str, reachable: str) -> str:
    page = site_text("page.html").replace("{{style}}", site_text("page.css")).replace("{{script}}", _script())
    page = page.replace("{{policy}}", _policy(reachable))
    return page.replace("{{data}}", data).replace("{{title}}", escape(title))  # last: a title may contain a placeholder


@cache
def site_text(name: str) -> str:
    """A file of the folder `site`."""
    return (_SITE / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts: those that only declare something, in any order, and then the one that starts the page."""
    declaring = sorted(each.name for each in _SITE.iterdir() if each.name.endswith(".js") and each.name != _START)
    return "\n".join(map(site_text, [*declaring, _START]))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
