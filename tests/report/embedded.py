"""The document that a page carries."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any


def embedded(page: Path) -> dict[str, Any]:
    """What the script of the page unpacks."""
    found = re.search(r'id="data">([^<]*)<', page.read_text("utf-8"))
    assert found
    made: dict[str, Any] = json.loads(zlib.decompress(b64decode(found[1])))
    return made
