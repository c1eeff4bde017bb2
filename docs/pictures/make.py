"""The pictures of the report in the README: `make pictures`. Needs a browser (`make browser`).

A shop with customers, products and orders is watched for four weeks. On some days a wrong total or an unknown customer
comes in; some of it is mended later.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa

import holdfast as hf
from tests.browser.chromium import NONE, executable, running

HERE = Path(__file__).parent
DAYS, ORDERS = 28, 60
CITIES = ["Berlin", "Hamburg", "München", "Köln", "Leipzig", "Bremen", "Dresden", "Kiel"]
RULE = "sku, quantity -> total"


def customers() -> pa.Table:
    """Two hundred of them; a city lies in one region."""
    city = [place * 7 % len(CITIES) for place in range(200)]
    return pa.table(
        {
            "id": list(range(1, 201)),
            "city": [CITIES[place] for place in city],
            "region": [["north", "south", "east", "west"][place % 4] for place in city],
        }
    )


def products() -> pa.Table:
    """Fifty of them."""
    return pa.table({"sku": [f"P-{n:03}" for n in range(50)], "price": [4.5 + 1.25 * n for n in range(50)]})


def orders(random: np.random.Generator, first: int, count: int, day: int) -> pa.Table:
    """The orders of a day; on some days with an error."""
    sku, quantity = random.integers(0, 50, count), random.integers(1, 6, count)
    total = (4.5 + 1.25 * sku) * quantity
    buyer = random.integers(1, 201, count)
    if day in (9, 23):
        total[3] = 1.0
    if day in (14, 26):
        buyer[5] = 4711
    return pa.table(
        {
            "number": list(range(first, first + count)),
            "customer": buyer.tolist(),
            "sku": [f"P-{n:03}" for n in sku],
            "quantity": quantity.tolist(),
            "total": total.tolist(),
        }
    )


def write_page(folder: Path) -> Path:
    """The report of the shop."""
    random = np.random.default_rng(4)
    tables = {"customers": customers(), "products": products(), "orders": orders(random, 1, 3000, 0)}
    keys = {"customers": "id", "products": "sku", "orders": "number"}
    with hf.Monitor.create(folder / "shop", tables, watch="column,fd,ucc", suggest=10, key=keys) as shop:
        for day in range(1, DAYS + 1):
            first = 3001 + (day - 1) * ORDERS
            shop.apply(inserts=orders(random, first, ORDERS, day), table="orders", batch_id=f"day {day}")
            if day == 12:  # the wrong total of day 9
                shop.apply(deletes=pa.table({"number": [3001 + 8 * ORDERS + 3]}), table="orders", batch_id="repair 9")
        shop.report(folder / "shop.html")
    return folder / "shop.html"


def main() -> None:
    """Two views, each in light and in dark."""
    path = executable()
    if path is None:
        sys.exit(NONE)
    views = {"overview": "#/", "rule": f"#/rule/named/orders/{quote(RULE, safe='')}"}
    with tempfile.TemporaryDirectory() as folder, running(path) as browser:
        page = write_page(Path(folder))
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1160, "height": 720}, color_scheme=scheme)
            for name, address in views.items():
                shown = context.new_page()
                shown.goto(f"{page.as_uri()}{address}")
                shown.wait_for_selector("main h1")
                shown.screenshot(path=HERE / f"{name}-{scheme}.png")


if __name__ == "__main__":
    main()
