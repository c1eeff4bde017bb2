"""The files that the sample sessions of README and docs use: the customers of a shop, and some days of new ones; its
sales, with days that look wrong.
"""

from __future__ import annotations

import datetime
import random
from pathlib import Path

CITIES = {
    "1010": "Wien", "8010": "Graz", "10115": "Berlin", "20095": "Hamburg", "50667": "Köln", "70173": "Stuttgart",
    "80331": "München",
}  # fmt: skip
HEADER = "customer,mail,zip,city,country"


def write_files(folder: Path) -> None:
    """Write customers.csv, and new ones of Monday to Thursday: with two problems on Tuesday, and one on Thursday."""
    choose = random.Random(1)
    lines = [_line(number, choose.choice(list(CITIES))) for number in range(1, 1301)]
    days = {"customers": lines[:1000], "monday": lines[1000:1100], "tuesday": lines[1100:1200]}
    days |= {"wednesday": lines[1200:1250], "thursday": lines[1250:]}
    days["tuesday"][17] = _line(1118, "70173", city="Stuttgard")
    days["tuesday"][30] = _line(1131, "8010", mail="c7@example.org")
    days["thursday"][4] = _line(1255, "70173", city="Esslingen")
    for name, rows in days.items():
        (folder / f"{name}.csv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    _write_incoming(folder)


def _write_incoming(folder: Path) -> None:
    """Write orders.csv and items.csv with a rule about them, and two batches of both: the second lacks its orders."""
    (folder / "incoming").mkdir()
    orders, items = ["id,customer", "1,C0001", "2,C0002"], ["order,sku", "1,S7", "2,S9"]
    files = {"orders.csv": orders, "items.csv": items, "shop.yaml": ["rules:", "  - rule: items.order in orders.id"]}
    files |= {
        "incoming/01-orders.csv": ["id,customer", "3,C0001"],
        "incoming/01-items.csv": ["order,sku", "3,S1", "3,S7"],
    }
    files |= {"incoming/02-items.csv": ["order,sku", "4,S2"]}
    for name, rows in files.items():
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_sales(folder: Path) -> None:
    """Write sales.csv, two months of sales, and those of four days in May: on the second there are few, the third
    lacks channels, and the fourth has cents for euros.
    """
    choose, march = random.Random(2), datetime.date(2024, 3, 1)

    def day(number: int, count: int, share: float = 0.0, factor: int = 1) -> list[str]:
        return [
            f"{100 * number + place},{march + datetime.timedelta(days=number)},"
            f"{'' if place < share * count else choose.choice(['web', 'web', 'app'])},"
            f"{factor * choose.lognormvariate(3, 0.5):.2f}"
            for place in range(count)
        ]

    files = {
        "sales": [line for number in range(61) for line in day(number, choose.randint(62, 82))],
        "may1": day(61, 71), "may2": day(62, 6), "may3": day(63, 70, share=0.57), "may4": day(64, 73, factor=100),
    }  # fmt: skip
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text("\n".join(["id,created_at,channel,amount", *rows]) + "\n", encoding="utf-8")


def _line(number: int, code: str, city: str = "", mail: str = "") -> str:
    country = "AT" if len(code) == 4 else "DE"
    return f"C{number:04d},{mail or f'c{number}@example.org'},{code},{city or CITIES[code]},{country}"
