"""The problems that are planted into the days of a shop, and on which days. Each day has wrong values of its own: one
that rows copy from an earlier day belongs to the incident of then.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from tests.shop.generator import DAYS, Day, Delivery, Plant, Row, Shop

Wrong = list[tuple[str, Row]]


def _wrong_item_vat(today: Delivery) -> Wrong:
    """New items of a product that was often sold have a rate of their own."""
    sold = Counter(row["sku"] for row in today.before["items"])
    rows = [row for row in today.new("items") if sold[row["sku"]] >= 5][:2]
    for row in rows:
        row["vat_rate"] = f"0.{today.day.number:02}6"
    return [("items", row) for row in rows]


def _wrong_order_currency(today: Delivery) -> Wrong:
    known = {row["customer_id"] for row in today.before["orders"]}
    row = today.one_of(row for row in today.new("orders") if row["customer_id"] in known)
    row["currency"] = f"X{today.day.number:02d}"
    return [("orders", row)]


def _wrong_customer_currency(today: Delivery) -> Wrong:
    row = _of(today, "country", "DE", "AT", "FR", "CH")
    row["currency"] = f"X{today.day.number:02}"
    return [("customers", row)]


def _wrong_city(today: Delivery) -> Wrong:
    row = _of(today, "postcode", *_often(today, "postcode"))
    row["city"] = f"Nowhere {today.day.number}"
    return [("customers", row)]


def _wrong_country(today: Delivery) -> Wrong:
    """Another country, with its currency: only the postcode shows it."""
    row = _of(today, "postcode", *_often(today, "postcode"))
    row["country"], row["currency"] = ("DE", "EUR") if row["country"] == "CH" else ("CH", "CHF")
    return [("customers", row)]


def _often(today: Delivery, column: str) -> list[str]:
    """The values of a column of the customers that many have."""
    counts = Counter(row[column] for row in today.before["customers"])
    return [value for value, count in counts.items() if count >= 4]


def _of(today: Delivery, column: str, *values: str) -> Row:
    """A new customer with one of some values."""
    for _ in range(1000):
        row = next((row for row in today.new("customers") if row[column] in values), None)
        if row is not None:
            return row
        today.put("customers", today.shop.customer())
    raise AssertionError(f"no customer with {column} of {values}")


def _taken(table: str, key: str) -> Callable[[Delivery], Wrong]:
    """A new row with a key that another row has."""

    def into(today: Delivery) -> Wrong:
        if not today.new(table):
            today.put(table, today.shop.product())
        row = today.one_of(today.new(table))
        row[key] = today.one_of(today.untouched(table))[key]
        return [(table, row)]

    return into


def _order_twice(today: Delivery) -> Wrong:
    old = today.one_of(today.untouched("orders")[-60:])
    return [("orders", today.put("orders", {**old, "order_date": today.shop.today, "total": "12.34"}))]


def _line_twice(today: Delivery) -> Wrong:
    first = today.new("items")[0]
    other = next(row for row in today.new("items") if row["sku"] != first["sku"])
    return [("items", today.put("items", {**other, "order_id": first["order_id"], "line": first["line"]}))]


def _orphan(table: str, column: str, number: int) -> Callable[[Delivery], Wrong]:
    """A reference to what was never there."""

    def into(today: Delivery) -> Wrong:
        row = today.one_of(today.new(table))
        missing = number + today.day.number
        row[column] = f"{row[column][:2]}{missing}" if isinstance(row[column], str) else missing
        return [(table, row)]

    return into


def _null_key(table: str, column: str) -> Callable[[Delivery], Wrong]:
    """Rows whose key is null."""

    def into(today: Delivery) -> Wrong:
        rows = today.new(table)[: 1 + today.day.number % 2]
        for row in rows:
            row[column] = None
        return [(table, row) for row in rows]

    return into


def _gone(today: Delivery) -> Wrong:
    """A customer is deleted, whose orders stay."""
    buyers = {row["customer_id"] for row in today.before["orders"]}
    row = today.one_of(row for row in today.untouched("customers") if row["customer_id"] in buyers)
    today.day.deletes["customers"].append(dict(row))
    return [("customers", row)]


def _wrong_provider(today: Delivery) -> Wrong:
    row = today.new("payments")[-1]
    row["provider"] = f"Provider {today.day.number}"
    return [("payments", row)]


def _wrong_product(column: str, value: str) -> Callable[[Delivery], Wrong]:
    """A new product of a known category with another department or rate."""
    return lambda today: [
        ("products", today.put("products", {**today.shop.product(), column: value.format(today.day.number)}))
    ]


PLANTS = [
    Plant("items: sku -> vat_rate", _wrong_item_vat),
    Plant("orders: customer_id -> currency", _wrong_order_currency),
    Plant("customers: country -> currency", _wrong_customer_currency),
    Plant("customers: postcode -> city", _wrong_city),
    Plant("customers: postcode -> country", _wrong_country),
    Plant("customers: key(email)", _taken("customers", "email")),
    Plant("customers: key(customer_id)", _taken("customers", "customer_id")),
    Plant("products: key(sku)", _taken("products", "sku")),
    Plant("payments: key(payment_id)", _taken("payments", "payment_id")),
    Plant("orders: key(order_id)", _order_twice),
    Plant("items: key(order_id, line)", _line_twice),
    Plant("items.sku in products.sku", _orphan("items", "sku", 999_100)),
    Plant("orders.customer_id in customers.customer_id", _orphan("orders", "customer_id", 999_200)),
    Plant("payments.order_id in orders.order_id", _orphan("payments", "order_id", 999_300)),
    Plant("customers: customer_id is null", _null_key("customers", "customer_id")),
    Plant("orders: order_id is null", _null_key("orders", "order_id")),
    Plant("a customer with orders is deleted", _gone),
    Plant("payments: method -> provider", _wrong_provider),
    Plant("products: category -> department", _wrong_product("department", "misc {}")),
    Plant("products: category -> vat_rate", _wrong_product("vat_rate", "0.{:02}1")),
]


def days(shop: Shop, seed: int) -> Iterator[Day]:
    """The days of a shop: ten problems on days of their own, five of which come again; the other days are quiet."""
    choose = random.Random(1000 + seed)
    first = choose.sample(PLANTS, 10)
    planted = dict(zip(sorted(choose.sample(range(2, DAYS + 1), 15)), [*first, *choose.sample(first, 5)], strict=True))
    for number in range(1, DAYS + 1):
        yield shop.day(number, [planted[number]] if number in planted else [])
