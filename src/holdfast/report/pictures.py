"""Pictures of a rule over time and of a column's values, as SVG, and the elements of any picture.

Plain functions from figures to text. Colours are CSS classes, so that the style decides about light, dark and print:
pages and notebooks have one each (`site/page.css`, `site/notebook.css`). A picture is as wide as a phone, or shrinks to
it, so that its letters stay readable. Texts from outside are escaped here. `diagram` draws the picture of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape as html_escape
from itertools import groupby

from rich.cells import cell_len

from holdfast.visible import cut, visible

WIDTH = 360.0  # of a picture with letters: as wide as a phone
LINE_HEIGHT = 18.0
_LETTER = 6.7  # the width of a letter, about
_STRIP_WIDTH, _STRIP_HEIGHT = 720.0, 14.0
_CELL = 12.0  # the width of a batch where there are few
_APART = 6.0  # wider cells are separated by gaps
_NARROWEST = 4.0  # of a breakage in a strip: two pixels on a phone
_STRIP_PLACES = 150  # a strip has at most twice as many pieces, whatever the number of batches
_HEIGHTS = {"held": 1.0, "broken": 1.0, "implied": 0.6, "untested": 0.35, "absent": 0.15}  # not by colour alone
_LINE_HEIGHT, _LINE_TOP, _LINE_BOTTOM = 100.0, 20.0, 78.0


@dataclass(frozen=True)
class Span:
    """Successive batches after which a rule was in one state: held, broken, implied, untested or absent."""

    first: int
    last: int
    state: str
    why: str = ""  # the rows that broke it, or the rule that implies it

    def __str__(self) -> str:
        named = f"batch {self.first:,}" if self.first == self.last else f"batches {self.first:,} to {self.last:,}"
        begins = f"batch {self.first:,}" if self.first else "the start"
        until = f"; so until batch {self.last:,}" if self.last > self.first else ""
        if self.state == "broken":
            return f"{begins}: broke{f', because of {self.why}' if self.why else ''}{until}"
        if self.state == "implied":
            return f"{named}: implied{f' by {self.why}' if self.why else ''}"
        return f"{named}: {_WORDS[self.state]}{f', {self.why}' if self.why else ''}"


_WORDS = {"held": "held", "untested": "not tested", "absent": "not known"}


# ---- elements --------------------------------------------------------------------------------------------------------


def escape(text: str) -> str:
    """A text from outside as HTML."""
    return html_escape(visible(text))


def svg(width: float, height: float, label: str, body: str, *, kind: str, role: str = "img", more: str = "") -> str:
    """A picture with a name that is read aloud."""
    size = f'viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}"'
    name = escape(label)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hf-picture hf-{kind}" {size}{more} role="{role}" '
        f'aria-label="{name}"><title>{name}</title>{body}</svg>'
    )


def at(place: float) -> str:
    """A coordinate, as short as it is exact enough."""
    return f"{place:.1f}".removesuffix(".0")


def rect(kind: str, x: float, y: float, width: float, height: float, title: str = "") -> str:
    """A box of a class, perhaps with a tooltip."""
    shape = f'<rect class="hf-{kind}" x="{at(x)}" y="{at(y)}" width="{at(width)}" height="{at(height)}"'
    return f"{shape}>{_tooltip(title)}</rect>" if title else f"{shape}/>"


def path(kind: str, steps: str) -> str:
    """A line of a class."""
    return f'<path class="hf-{kind}" d="{steps}"/>'


def group(title: str, body: str) -> str:
    """Shapes that belong together, with a tooltip."""
    return f"<g>{_tooltip(title)}{body}</g>"


def text(x: float, y: float, said: str, kind: str = "text", anchor: str = "start", title: str = "") -> str:
    """A text that starts, is centred (`middle`) or ends at a place, perhaps with a tooltip."""
    where = f'x="{at(x)}" y="{at(y)}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text class="hf-{kind}" {where}>{_tooltip(title)}{escape(said)}</text>'


def _tooltip(title: str) -> str:
    return f"<title>{escape(title)}</title>" if title else ""


def room_of(said: str) -> float:
    """How wide a text is, about."""
    return cell_len(visible(said)) * _LETTER


def cut_to(said: str, room: float) -> str:
    """A text, cut to some room."""
    return cut(visible(said), int(room / _LETTER))


def number(value: float) -> str:
    """A number for people."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


# ---- a rule over time ------------------------------------------------------------------------------------------------


def strip(spans: Sequence[Span], label: str, *, links: bool = True) -> str:
    """A cell for each batch. Breakages are drawn last and never too narrow to see. Each span links to its first batch.

    A picture with links has the role `group`: the role `img` would hide the links from screen readers.
    """
    if not spans:
        return ""
    start, batches = spans[0].first, spans[-1].last - spans[0].first + 1
    cell = min(_CELL, _STRIP_WIDTH / batches)
    width = max(cell * batches, _NARROWEST)
    pieces = sorted(_pieces(spans), key=lambda piece: piece.span.state == "broken")  # the last ones lie on top
    drawn = "".join(piece.drawn(start, cell, width, links) for piece in pieces)
    gaps = "".join(f"M{at(place * cell)} 0V{at(_STRIP_HEIGHT)}" for place in range(1, batches))
    body = drawn + (path("gap", gaps) if gaps and cell >= _APART else "")
    role, stretched = "group" if links else "img", ' preserveAspectRatio="none"'
    return svg(width, _STRIP_HEIGHT, label, body, kind="strip", role=role, more=stretched)


@dataclass(frozen=True)
class _Piece:
    """A piece of a strip, and its tooltip."""

    span: Span
    tooltip: str

    def drawn(self, start: int, cell: float, whole: float, links: bool) -> str:
        """The piece in a strip that starts with a batch and has a width."""
        span = self.span
        x, width = (span.first - start) * cell, (span.last - span.first + 1) * cell
        if span.state == "broken":
            width = max(width, _NARROWEST)
            x = min(x, whole - width)
        height = _HEIGHTS[span.state] * _STRIP_HEIGHT
        drawn = rect(span.state, x, _STRIP_HEIGHT - height, width, height, self.tooltip)
        return f'<a href="#/batch/{span.first}" aria-label="{escape(self.tooltip)}">{drawn}</a>' if links else drawn


def _pieces(spans: Sequence[Span]) -> Iterator[_Piece]:
    """A piece for each span. If these are too many, those in one place are one piece, broken if any of them is."""
    start, batches = spans[0].first, spans[-1].last - spans[0].first + 1
    places = _STRIP_PLACES if len(spans) > 2 * _STRIP_PLACES else batches
    for _, group in groupby(spans, lambda span: (span.first - start) * places // batches):
        *short, last = group
        if short:
            broken = [span for span in short if span.state == "broken"]
            shown = (broken or short)[0]
            more = f"; {len(broken):,} breakages until batch {short[-1].last:,}" if len(broken) > 1 else ""
            yield _Piece(Span(shown.first, short[-1].last, shown.state), f"{shown}{more}")
        yield _Piece(last, str(last))


def line(points: Sequence[tuple[int, float | None]], label: str, *, last: int) -> str:
    """A step line over the batches 0 to `last`, with its greatest and its last value; None leaves a gap. No picture of
    a single point.
    """
    known = [value for _, value in points if value is not None]
    if not known or len(points) < 2:
        return ""
    greatest, now = max(known), points[-1][1]
    if greatest <= 0:
        return _flat(label, last)
    said = "" if now is None else number(now)
    right = WIDTH - room_of(said) * 1.1 - 10  # it is bold
    steps = _steps(points, greatest, right, last)
    end = "" if now is None else text(right + 6, _height(now, greatest) + 4, said, "strong")
    axis = path("axis", f"M0 {at(_LINE_BOTTOM)}H{at(right)}")
    top = path("grid", f"M0 {at(_LINE_TOP)}H{at(right)}")
    letters = text(0, _LINE_TOP - 6, f"at most {number(greatest)}") + _first_and_last(right, _LINE_BOTTOM, last)
    body = top + axis + _filled(steps) + path("line", steps) + letters + end
    return svg(WIDTH, _LINE_HEIGHT, label, body, kind="over-time")


def _flat(label: str, last: int) -> str:
    """A line that never left 0 needs no height."""
    right, bottom = WIDTH - room_of("0") - 10, 10.0
    drawn = path("line", f"M0 {at(bottom)}H{at(right)}") + text(right + 6, bottom + 4, "0", "strong")
    return svg(WIDTH, bottom + 22, label, drawn + _first_and_last(right, bottom, last), kind="over-time")


def _first_and_last(right: float, bottom: float, last: int) -> str:
    """The names of the first and the last batch below a line."""
    return text(0, bottom + 16, "start") + (text(right, bottom + 16, f"batch {last:,}", anchor="end") if last else "")


def _height(value: float, greatest: float) -> float:
    return _LINE_BOTTOM - value / greatest * (_LINE_BOTTOM - _LINE_TOP)


def _steps(points: Sequence[tuple[int, float | None]], greatest: float, right: float, last: int) -> str:
    """The line as a path: from each point to the next batch with another value. All batches have the same width."""
    width = right / (last + 1)
    steps, before = "", None
    for seq, value in _thinned(points, last):
        x = at(seq * width)
        if value is None:
            steps += f"H{x}" if before is not None else ""
        elif before is None:
            steps += f"M{x} {at(_height(value, greatest))}"
        elif value != before:
            steps += f"H{x}V{at(_height(value, greatest))}"
        before = value
    return steps if before is None else f"{steps}H{at(right)}"


def _thinned(points: Sequence[tuple[int, float | None]], last: int) -> Iterator[tuple[int, float | None]]:
    """As many points as fit: of those that share a place, the greatest and the last."""
    if len(points) <= WIDTH:
        yield from points
        return
    for _, group in groupby(points, lambda point: int(point[0] * WIDTH / (last + 1))):
        together = list(group)
        greatest = max(together, key=lambda point: -1.0 if point[1] is None else point[1])
        yield greatest
        if together[-1] is not greatest:
            yield together[-1]


def _filled(steps: str) -> str:
    """The area below each piece of a line."""
    return "".join(
        path("area", f"M{piece}V{at(_LINE_BOTTOM)}H{piece.split(' ')[0]}Z") for piece in steps.split("M") if piece
    )


# ---- the values of a column ------------------------------------------------------------------------------------------


def bars(values: Sequence[tuple[str, int]], others: int, nulls: int, label: str) -> str:
    """A bar for each of the most frequent values, for all other rows, and for the nulls."""
    rows = [("bar", value, count) for value, count in values]
    rows += [("rest", "all others", others)] if others else []
    rows += [("null", "null", nulls)] if nulls else []
    if not rows:
        return ""
    greatest = max(count for _, _, count in rows)
    letters = max(room_of(f"{count:,}") for _, _, count in rows) + 8
    left = min(max(room_of(name) for _, name, _ in rows) + 8, WIDTH * 0.42)
    unit = (WIDTH - left - letters) / max(greatest, 1)
    body = "".join(
        _bar(kind, name, count, place * LINE_HEIGHT, left, unit) for place, (kind, name, count) in enumerate(rows)
    )
    return svg(WIDTH, LINE_HEIGHT * len(rows) + 2, label, body, kind="bars")


def _bar(kind: str, name: str, count: int, y: float, left: float, unit: float) -> str:
    width = max(count * unit, 1.0 if count else 0.0)
    aloud = f"{name}: {count:,}"
    return (
        text(0, y + 13, cut_to(name, left - 6), "text" if kind == "bar" else "soft", title=aloud)
        + rect(kind, left, y + 3, width, LINE_HEIGHT - 5, aloud)
        + text(left + width + 5, y + 13, f"{count:,}", "soft")
    )


def histogram(counts: Sequence[int], least: str, greatest: str, nulls: int, label: str) -> str:
    """How many rows have values in each of some ranges of equal width, from the least value to the greatest."""
    if not counts:
        return ""
    most, width = max(*counts, 1), WIDTH / len(counts)
    drawn = ""
    for place, count in enumerate(counts):
        height = max(count / most * (_LINE_BOTTOM - _LINE_TOP), 1.0 if count else 0.0)
        x, gap = place * width, min(1.0, width / 4)
        drawn += rect("bar", x, _LINE_BOTTOM - height, width - gap, height, f"{count:,} rows") if count else ""
    letters = [
        text(0, _LINE_TOP - 6, f"at most {most:,} rows"),
        text(WIDTH, _LINE_TOP - 6, f"{nulls:,} null", "soft", "end") if nulls else "",
        text(0, _LINE_BOTTOM + 16, cut_to(least, WIDTH / 2 - 8), title=least),
        text(WIDTH, _LINE_BOTTOM + 16, cut_to(greatest, WIDTH / 2 - 8), anchor="end", title=greatest),
    ]
    axis = path("axis", f"M0 {at(_LINE_BOTTOM)}H{at(WIDTH)}")
    return svg(WIDTH, _LINE_HEIGHT, label, drawn + axis + "".join(letters), kind="histogram")
