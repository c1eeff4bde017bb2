"""Makes the page of the package from README.md: on an index no files lie beside it.

HOLDFAST_FILES is the address below which the repository's files can be fetched: pictures and links lead there. Without
it, the page has no pictures, and the texts of links alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from setuptools import setup

_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_SOURCE = re.compile(r"""((?:src|srcset)=")(?!\w+:)""")
_LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)]+)\)")


def page(text: str, address: str | None) -> str:
    """A text in Markdown without relative links."""
    if not address:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    base = address.rstrip("/")
    return _LINK.sub(rf"[\1]({base}/\2)", _SOURCE.sub(rf"\1{base}/", text))


if __name__ == "__main__":
    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    setup(
        long_description=page(readme, os.environ.get("HOLDFAST_FILES")),
        long_description_content_type="text/markdown",
    )
