"""The pieces of a picture: SVG as text, whose colours are classes, so that light, dark and print are a style's matter.

Texts of others are escaped here. A picture is as wide as a phone, or shrinks to it, so that its letters stay readable.
"""

from __future__ import annotations

from rich.cells import cell_len

from holdfast.report.pages import escape
from holdfast.visible import cut, visible

WIDTH = 360.0  # of a picture with letters: as wide as a phone
LINE_HEIGHT = 18.0
_LETTER = 6.7  # the width of a letter, about


def svg(width: float, height: float, label: str, body: str, *, kind: str, role: str = "img", more: str = "") -> str:
    """A picture with a name that is read aloud."""
    size = f'viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}"'
    said = escape(label)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hf-picture hf-{kind}" {size}{more} role="{role}" '
        f'aria-label="{said}"><title>{said}</title>{body}</svg>'
    )


def at(place: float) -> str:
    """A coordinate, as short as it is exact enough."""
    return f"{place:.1f}".removesuffix(".0")


def rect(kind: str, x: float, y: float, width: float, height: float, title: str = "") -> str:
    """A box of a class; its title is shown when one points at it."""
    told = f"<title>{escape(title)}</title>" if title else ""
    shape = f'<rect class="hf-{kind}" x="{at(x)}" y="{at(y)}" width="{at(width)}" height="{at(height)}"'
    return f"{shape}>{told}</rect>" if told else f"{shape}/>"


def path(kind: str, steps: str) -> str:
    """A line of a class."""
    return f'<path class="hf-{kind}" d="{steps}"/>'


def group(title: str, body: str) -> str:
    """Shapes that belong together; their title is shown when one points at them."""
    return f"<g><title>{escape(title)}</title>{body}</g>"


def text(x: float, y: float, said: str, kind: str = "text", anchor: str = "start", title: str = "") -> str:
    """A text that starts, is centred (`middle`) or ends at a place."""
    told = f"<title>{escape(title)}</title>" if title else ""
    where = f'x="{at(x)}" y="{at(y)}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text class="hf-{kind}" {where}>{told}{escape(said)}</text>'


def room_of(said: str) -> float:
    """How wide a text is, about."""
    return cell_len(visible(said)) * _LETTER


def cut_to(said: str, room: float) -> str:
    """A text, cut to some room."""
    return cut(visible(said), int(room / _LETTER))


def number(value: float) -> str:
    """A number for people."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"
