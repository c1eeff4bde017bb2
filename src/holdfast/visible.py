r"""Text that is safe to show: characters that control a terminal, change the direction of text or are invisible are
escaped.

Values, names and paths come from others. An escape sequence in one of them could repaint the screen or the title of a
window, a change of direction could make one value look like another, and text without width is invisible. The caller
that prints escapes such characters as Python and JSON do: `\x1b` or `\u202e`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

# Controls, format characters (Unicode's Cf), line and paragraph separators, surrogates, and what Unicode calls
# default ignorable: fillers and, in plane 14, tags and the selectors of glyph variants.
_HIDING = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NO_FRACTION = re.compile(r"(\d\d:\d\d:\d\d)\.0+(?=\Z|[Z+-])")
_ANY = re.compile(f"[{_HIDING}]")
_ANY_BUT_NEWLINE = re.compile(f"(?!\n)[{_HIDING}]")


def visible(text: str) -> str:
    r"""A text on one line, with control and invisible characters escaped.

    >>> print(visible("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return _ANY.sub(_spelled, text)


def counted(count: int, thing: str) -> str:
    """A number of things: `1 row`, `2,000 rows`.

    >>> counted(2000, "row")
    '2,000 rows'
    """
    return f"{count:,} {thing}{'s' * (count != 1)}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many more there are: `a, b and 3 more`.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def visible_lines(text: str) -> str:
    """The same for a text of several lines."""
    return _ANY_BUT_NEWLINE.sub(_spelled, text)


def visible_json(text: str) -> str:
    r"""JSON that means the same, on one line, with such characters written as `\u202e`."""
    return _ANY.sub(_escaped, text)


def without_fraction(text: str) -> str:
    """A time without a fraction of zeros; other texts as they are.

    >>> without_fraction("2024-01-01 10:00:00.000000")
    '2024-01-01 10:00:00'
    """
    return _NO_FRACTION.sub(r"\1", text)


def cut(text: str, room: int) -> str:
    """A text, cut at its end to the width that it has."""
    from rich.cells import cell_len, set_cell_size  # only where something is shown: help must answer quickly

    return text if cell_len(text) <= room else set_cell_size(text, max(room - 1, 0)).rstrip() + "…"


def brief(value: Any, longest: int = 28) -> str:
    """A value on a short line; numbers that count something are grouped."""
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else without_fraction(str(value))
    return cut(visible(text[: longest + 1].replace("\n", "⏎")), longest)


def accepted_words(violations: int, accepted: int | None) -> str:
    """What follows the number of violations where some are accepted."""
    if not violations or not accepted:
        return ""
    return ", all accepted" if accepted == violations else f", {accepted:,} accepted"


class Printed(ABC):
    """What prints as a few lines; a dataclass that shows them instead of its fields needs `repr=False`."""

    def __str__(self) -> str:
        return "\n".join(map(visible, self.lines()))

    def __repr__(self) -> str:
        return str(self)

    @abstractmethod
    def lines(self) -> list[str]:
        """The lines of text."""


def shown_fields(value: Any, hidden: Sequence[str] = ()) -> str:
    """A dataclass of options as `print()` shows it: what differs from the default, and never what is hidden."""
    parts = []
    for each in fields(value):
        given = getattr(value, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if given != default:
            parts.append(f"{each.name}={'…' if each.name in hidden else repr(given)}")
    return f"{type(value).__name__}({', '.join(parts)})"


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
