"""A depot whose rows have numbers, moments and codes, so that wrong ones can be seen in a row by itself.

One table of shipments grows daily, less on weekends. What is meant: the amount is quantity times price, the net amount
is that less a rebate, nothing is shipped before it was ordered or delivered before it was shipped, codes and e-mail
addresses have one format. What is hard and legitimate: prices grow, weights have a heavy tail, ids and moments grow for
ever, some columns are null, new carriers come, and large orders are larger than all before.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping
from typing import Any

Row = dict[str, Any]
DAYS = 24
START = dt.datetime(2025, 3, 3, 6)


class Depot:
    """The shipments of a depot, day by day."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.daily = [20, 45, 90][seed % 3]
        self._number = self.random.choice([980, 20_000])
        self.carriers = ["north", "east", "post"]
        self.articles = [
            (f"{self._letters()}-{self.random.randrange(10_000):04d}", round(self.random.uniform(2, 180), 2))
            for _ in range(150)
        ]
        self.first = [row for day in range(60) for row in self.day(day)]

    def _letters(self) -> str:
        return "".join(self.random.choices("ABCDEFGHJKLMNPRSTUVW", k=2))

    def day(self, number: int) -> list[Row]:
        """The shipments of one day."""
        weekend = number % 7 in (5, 6)
        count = int(self.daily * self.random.uniform(0.8, 1.2) * (0.4 if weekend else 1.0))
        return [self.row(START + dt.timedelta(days=number, minutes=self.random.randrange(900))) for _ in range(count)]

    def row(self, ordered: dt.datetime) -> Row:
        """One shipment."""
        choose = self.random
        self._number += 1
        article, price = choose.choice(self.articles)
        price = round(price * 1.0005 ** (ordered - START).days, 2)
        quantity = choose.choice([1, 1, 1, 2, 2, 3, 5, 12])
        rebate = choose.choice([0.0, 0.0, 0.0, 0.05, 0.1])
        shipped = ordered + dt.timedelta(minutes=int(choose.expovariate(1 / 300)))
        delivered = shipped + dt.timedelta(hours=choose.randint(0, 90))
        amount = round(quantity * price, 2)
        return {
            "id": f"S{self._number:07d}",
            "ordered_at": ordered,
            "shipped_at": shipped,
            "delivered_at": delivered if choose.random() < 0.9 else None,
            "buyer": f"{choose.choice(['ann', 'bo', 'cy'])}{choose.randrange(400)}@{choose.choice(['a', 'bb'])}.org",
            "article": article,
            "quantity": quantity,
            "price": price,
            "amount": amount,
            "net": round(amount * (1 - rebate), 2),
            "rebate": rebate,
            "weight": round(choose.lognormvariate(0, 1), 3) if choose.random() < 0.7 else None,
            "carrier": choose.choices(self.carriers, [30, 20, 10, 1][: len(self.carriers)])[0],
        }


def _later(column: str, other: str) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        row[column] = row[other] - dt.timedelta(hours=30)

    return change


def _put(column: str, made: Callable[[Row], Any]) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        row[column] = made(row)

    return change


def _hundredfold(row: Row) -> None:
    """A price in cents, and all that follows from it."""
    for column in ("price", "amount", "net"):
        row[column] = round(row[column] * 100, 2)


PROBLEMS: Mapping[str, Callable[[Row], None]] = {
    "an amount in cents": _put("amount", lambda row: row["amount"] * 100),
    "a net amount that is none": _put("net", lambda row: round(row["net"] * 0.7, 2)),
    "shipped before ordered": _later("shipped_at", "ordered_at"),
    "delivered before shipped": lambda row: row.update(delivered_at=row["shipped_at"] - dt.timedelta(days=2)),
    "a price times 100": _hundredfold,
    "a malformed code": _put("article", lambda row: row["article"].replace("-", "")),
    "a malformed address": _put("buyer", lambda row: row["buyer"].replace("@", " at ")),
    "no amount": _put("amount", lambda _: None),
    "no moment": _put("ordered_at", lambda _: None),
    "a negative quantity": lambda row: row.update(quantity=-row["quantity"], amount=-row["amount"], net=-row["net"]),
}
