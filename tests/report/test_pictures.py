"""Pictures: well-formed, escaped, without style of their own, small, and nothing that broke is lost."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from holdfast.report.bundle import site_text
from holdfast.report.diagram import Edge, tables
from holdfast.report.pictures import Span, bars, histogram, line, strip

EVIL = "<script>alert('1')</script>\x1b[2J\"&"
SVG = "{http://www.w3.org/2000/svg}"

PICTURES = {
    "strip": strip([Span(0, 3, "held"), Span(4, 4, "broken", EVIL), Span(5, 6, "implied", EVIL)], EVIL),
    "quiet strip": strip([Span(0, 3, "untested"), Span(4, 4, "absent")], EVIL, links=False),
    "line": line([(0, 0.0), (2, 1234.0), (3, None), (4, 0.00012)], EVIL, last=9),
    "bars": bars([(EVIL, 12), ("b", 0)], 7, 5, EVIL),
    "histogram": histogram([1, 0, 3], EVIL, EVIL, 4, EVIL),
    "tables": tables([(EVIL, [EVIL]), ("b", [EVIL])], [Edge("b", (EVIL,), EVIL, (EVIL,), 0.5, 3)], EVIL),
}


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def shapes(picture: str, kind: str) -> list[ElementTree.Element]:
    return [each for each in parsed(picture).iter() if each.get("class") == f"hf-{kind}"]


def place(shape: ElementTree.Element, side: str) -> float:
    return float(shape.get(side, "nan"))


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())
def test_texts_of_others_are_only_texts(picture: str) -> None:
    root = parsed(picture)
    assert root.tag == f"{SVG}svg"
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in picture
    assert r"\x1b[2J" in picture
    assert root.get("aria-label") == root.findtext(f"{SVG}title") == EVIL.replace("\x1b", r"\x1b")


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())
def test_colours_are_classes_and_sizes_scale(picture: str) -> None:
    root = parsed(picture)
    used = {name for each in root.iter() for name in each.get("class", "").split()}
    known = set(re.findall(r"\.(hf-[a-z-]+)", site_text("notebook.css")))
    assert used - known <= {f"hf-{kind}" for kind in ("over-time", "bars", "histogram")}
    assert not [each for each in root.iter() if each.get("style") or each.get("fill") or each.get("stroke")]
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert root.get("role") == ("group" if list(root.iter(f"{SVG}a")) else "img")


def test_a_strip_tells_what_happened_and_leads_to_the_batch() -> None:
    picture = strip([Span(0, 6, "held"), Span(7, 9, "broken", "Id 4 and Id 9"), Span(10, 10, "held")], "Zip -> State")
    links = {link.get("href"): link.get("aria-label") for link in parsed(picture).iter(f"{SVG}a")}
    assert links == {
        "#/batch/0": "batches 0 to 6: held",
        "#/batch/7": "batch 7: broke, because of Id 4 and Id 9; so until batch 9",
        "#/batch/10": "batch 10: held",
    }
    assert [each.text for each in parsed(picture).iter(f"{SVG}title")][1:] == [
        "batches 0 to 6: held",
        "batch 10: held",
        "batch 7: broke, because of Id 4 and Id 9; so until batch 9",  # on top
    ]


@pytest.mark.parametrize("at", [0, 1, 499, 998, 999])
def test_one_breakage_in_a_thousand_batches_is_seen(at: int) -> None:
    runs = [Span(0, at - 1, "held")] if at else []
    runs += [Span(at, at, "broken", "row 1"), *([Span(at + 1, 999, "held")] if at < 999 else [])]
    picture = strip(runs, "rule")
    (broken,) = shapes(picture, "broken")
    width = float(parsed(picture).get("width", "nan"))
    assert place(broken, "width") >= 4
    assert 0 <= place(broken, "x") <= width - place(broken, "width")
    assert abs(place(broken, "x") - at / 1000 * width) <= 4


def test_many_runs_make_a_small_strip_in_which_no_breakage_is_lost() -> None:
    runs = [Span(seq, seq, "broken" if seq % 7 == 3 else "held", "row") for seq in range(5000)]
    picture = strip(runs, "rule")
    assert len(picture) < 80_000
    spans = sorted((place(b, "x"), place(b, "x") + place(b, "width")) for b in shapes(picture, "broken"))
    width = float(parsed(picture).get("width", "nan"))
    for run in runs:
        if run.state == "broken":
            assert any(start - 4 <= run.first / 5000 * width <= end + 4 for start, end in spans)


def test_a_long_run_after_many_short_ones_keeps_its_state() -> None:
    short = [Span(seq, seq, "broken" if seq % 2 else "held", "row") for seq in range(400)]
    picture = strip([*short, Span(400, 9999, "held")], "rule")
    width = float(parsed(picture).get("width", "nan"))
    assert max(place(b, "x") + place(b, "width") for b in shapes(picture, "broken")) < 0.05 * width
    assert max(place(b, "width") for b in shapes(picture, "held")) > 0.9 * width


def test_an_empty_picture_is_none() -> None:
    assert strip([], "rule") == line([], "rule", last=3) == line([(0, None)], "rule", last=3) == ""
    assert bars([], 0, 0, "column") == histogram([], "", "", 0, "column") == tables([], [], "none") == ""


def test_a_line_steps_and_has_gaps() -> None:
    (drawn,) = shapes(line([(0, 4.0), (5, 2.0), (7, None), (8, 0.0), (10, 0.0)], "g3", last=10), "line")
    steps = re.sub(r"[\d.]+", "", drawn.get("d", ""))
    assert steps == "M HVHM H"


def test_a_line_of_many_batches_keeps_its_peak_and_its_end() -> None:
    points = [(seq, 1000.0 if seq == 700 else float(seq % 3)) for seq in range(1001)]
    picture = line(points, "violations", last=1000)
    assert len(picture) < 12_000
    assert "at most 1,000" in picture
    (drawn,) = shapes(picture, "line")
    heights = [float(height) for height in re.findall(r"V([\d.]+)", drawn.get("d", ""))]
    assert min(heights) == 20
    assert shapes(picture, "strong")[0].text == "1"


def test_bars_are_as_long_as_values_are_frequent() -> None:
    picture = bars([("a", 100), ("b", 50), ("c", 1)], 25, 10, "Zip")
    long = [place(bar, "width") for bar in shapes(picture, "bar")]
    assert long[0] == pytest.approx(2 * long[1], abs=0.2)
    assert long[2] >= 1
    assert len(shapes(picture, "rest")) == len(shapes(picture, "null")) == 1


def test_a_histogram_draws_what_is_there() -> None:
    picture = histogram([1, 0, 1000], "1", "9", 0, "Salary")
    assert [title.text for bar in shapes(picture, "bar") for title in bar] == ["1 rows", "1,000 rows"]
    assert min(place(bar, "height") for bar in shapes(picture, "bar")) >= 1


def test_a_share_is_never_rounded_up_to_all() -> None:
    edge = Edge("orders", ("cust",), "customers", ("id",), 0.999999, 1)
    assert str(edge) == "orders.cust in customers.id: 99.9 %, 1 orphan"
    assert Edge("orders", ("cust",), "customers", ("id",), 1.0, 0).label == "100 %"


SHOP = [("customers", ["id", "parent"]), ("orders", ["id", "cust"]), ("items", ["order", "cust"]), ("log", ["at"])]
KEYS = [
    Edge("orders", ("cust",), "customers", ("id",), 0.998, 12),
    Edge("items", ("order",), "orders", ("id",), 1.0, 0),
    Edge("items", ("cust",), "customers", ("id",), 1.0, 0),
    Edge("customers", ("parent",), "customers", ("id",), 0.5, 4),
]


def test_referenced_tables_stand_left_and_boxes_apart() -> None:
    picture = tables(SHOP, KEYS, "foreign keys")
    left = {name.findtext(f"{SVG}title"): place(name, "x") for name in shapes(picture, "strong")}
    assert left["customers"] < left["orders"] < left["items"]
    boxes = sorted(
        (place(box, "x"), place(box, "y"), place(box, "width"), place(box, "height")) for box in shapes(picture, "box")
    )
    assert len(boxes) == 4
    for (x, y, width, height), (x2, y2, _, height2) in pairwise(boxes):
        assert x + width < x2 or y + height < y2 or y2 + height2 < y
    titles = [group.findtext(f"{SVG}title") for group in parsed(picture).iter(f"{SVG}g")]
    assert titles == [str(key) for key in KEYS]


def test_tables_that_refer_in_a_circle_are_drawn() -> None:
    circle = [Edge(a, ("x",), b, ("x",), 1.0, 0) for a, b in (("a", "b"), ("b", "c"), ("c", "a"))]
    picture = tables([(name, ["x"]) for name in "abc"], circle, "circle")
    assert len(shapes(picture, "edge")) == len(shapes(picture, "arrow")) == 3


def test_a_foreign_key_of_an_unknown_table_is_left_out() -> None:
    assert not shapes(tables([("a", ["x"])], [Edge("a", ("x",), "gone", ("x",), 1.0, 0)], "one"), "edge")
