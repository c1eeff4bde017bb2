"""A shop whose data are like those of real shops, with problems planted on known days.

Five tables load at first, and then change daily: customers come and move, products change their prices, orders are
placed, changed and paid. Rules that are meant: keys, keys of two columns, references, dependencies, and dependencies
that follow from others (customer -> country -> currency). Each planted problem breaks one of these, with rows that a
dependency, a key or a reference can see. Days without a problem have what is hard and legitimate: first orders from
another country, new products, other prices, customers that change their e-mail or move, equal names, returned orders.

Shops of different seeds differ in size, in the form of their keys, and in how much is null.
"""

from __future__ import annotations

import csv
import datetime
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
DAYS, GROWTH = 30, 1.01
FIRST_DAY, HISTORY = datetime.date(2024, 1, 1), 150  # days before the first load

COUNTRIES = {"DE": "EUR", "AT": "EUR", "FR": "EUR", "CH": "CHF", "PL": "PLN", "GB": "GBP", "SE": "SEK", "NO": "NOK"}
TOWNS = {
    "DE": ["Berlin", "Hamburg", "Stuttgart", "Leipzig", "Bremen", "Neustadt"],
    "AT": ["Wien", "Graz", "Linz", "Neustadt"],
    "FR": ["Paris", "Lyon", "Lille"],
    "CH": ["Bern", "Basel", "Chur"],
    "PL": ["Gdynia", "Lublin"],
    "GB": ["Leeds", "York", "Boston"],
    "SE": ["Lund", "Malmö"],
    "NO": ["Bergen", "Oslo"],
}
CATEGORIES = {
    "novels": ("books", "0.07"),
    "guides": ("books", "0.07"),
    "coffee": ("food", "0.07"),
    "spices": ("food", "0.07"),
    "lamps": ("home", "0.19"),
    "rugs": ("home", "0.19"),
    "tools": ("garden", "0.19"),
    "seeds": ("garden", "0.07"),
    "socks": ("clothes", "0.19"),
    "vouchers": ("other", "0.00"),
}
PROVIDERS = {"card": "Adyen", "wallet": "PayPal", "debit": "Sepa", "invoice": "Klarna", "gift card": "own"}
CARRIERS = ["DHL", "UPS", "GLS"]
FIRST = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Emma",
    "Felix",
    "Greta",
    "Hugo",
    "Ida",
    "Jan",
    "Kira",
    "Leo",
    "Mia",
    "Nils",
    "Olga",
    "Paul",
    "Rosa",
    "Sam",
    "Tina",
    "Udo",
]
LAST = [
    "Abel",
    "Braun",
    "Costa",
    "Dahl",
    "Ernst",
    "Frank",
    "Graf",
    "Huber",
    "Iwan",
    "Jung",
    "Kern",
    "Lang",
    "Maier",
    "Nowak",
    "Otto",
    "Peters",
    "Roth",
    "Seidel",
]
STREETS = ["Lindenweg", "Hauptstraße", "Mühlgasse", "Ring", "Markt", "Allee", "Hafenstraße"]

COLUMNS = {
    "customers": "customer_id first_name last_name email street postcode city country currency segment signup_date "
    "newsletter",
    "products": "sku name category department vat_rate price weight supplier",
    "orders": "order_id customer_id order_date status channel ship_country currency total coupon",
    "items": "order_id line sku quantity unit_price vat_rate",
    "payments": "payment_id order_id method provider amount paid_on",
}


@dataclass
class Day:
    """What changes on a day; `problems` are the names of those planted."""

    number: int
    inserts: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    deletes: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Size:
    """How many customers and orders a shop starts with, how many orders a day brings, and how its keys look."""

    customers: int
    products: int
    orders: int
    daily: int
    text_keys: bool


SIZES = [
    Size(400, 120, 1500, 40, text_keys=False),
    Size(900, 300, 4000, 120, text_keys=True),
    Size(250, 60, 700, 20, text_keys=True),
    Size(1500, 200, 2500, 60, text_keys=False),
    Size(600, 500, 5000, 90, text_keys=False),
]


class Shop:
    """The tables of a shop as they are now."""

    def __init__(self, seed: int, size: Size | None = None) -> None:
        self.random = random.Random(seed)
        self.size = size or SIZES[seed % len(SIZES)]
        self.rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        self.today = FIRST_DAY
        self._numbers: dict[str, int] = defaultdict(lambda: self.random.randint(1000, 30000))
        self._codes = self._postcodes()
        self._countries = list(COUNTRIES)[:5]  # the others come later
        for _ in range(self.size.products):
            self.add("products", self.product())
        for _ in range(self.size.customers):
            self.add("customers", self.customer())
        for number in range(self.size.orders):
            self.today = FIRST_DAY + datetime.timedelta(days=number * HISTORY // self.size.orders)
            self._order(self.add)
            if number % (self.size.orders // 40) == 0:  # prices changed before, too
                for row in self.random.sample(self.rows["products"], 3):
                    row["price"] = self._price(row)
                moved = self.random.choice(self.rows["customers"][:100])  # those who order most
                moved.update(self._address(self._country(moved)))

    # ---- rows -------------------------------------------------------------------------------------------------------

    def add(self, table: str, row: Row) -> Row:
        """Add a row."""
        self.rows[table].append(row)
        return row

    def _postcodes(self) -> dict[str, list[tuple[str, str]]]:
        """Postcodes of each country with their towns: a town has several, and two countries may share a postcode."""
        codes: dict[str, list[tuple[str, str]]] = {}
        taken: set[str] = set()
        for country, towns in TOWNS.items():
            codes[country] = []
            for town in towns:
                for _ in range(self.random.randint(1, 5)):
                    code = f"{self.random.randint(1000, 99999):05d}"
                    if code not in taken:
                        taken.add(code)
                        codes[country].append((code, town))
        return codes

    def _next(self, table: str, letter: str) -> Any:
        self._numbers[table] += 1
        number = self._numbers[table]
        return f"{letter}-{number:06d}" if self.size.text_keys else number

    def _address(self, country: str) -> Row:
        code, town = self.random.choice(self._codes[country])
        street = f"{self.random.choice(STREETS)} {self.random.randint(1, 90)}"
        return {"street": street, "postcode": code, "city": town, "country": country, "currency": COUNTRIES[country]}

    def customer(self) -> Row:
        choose = self.random
        first, last = choose.choice(FIRST), choose.choice(LAST)
        number = self._next("customers", "C")
        weights = [8, 3, 3, 2, 2, 1, 1, 1][: len(self._countries)]
        return {
            "customer_id": number,
            "first_name": first,
            "last_name": last,
            "email": f"{first}.{last}{number}@example.org".lower(),
            **self._address(choose.choices(self._countries, weights)[0]),
            "segment": choose.choices(["private", "business", "school"], [8, 2, 1])[0],
            "signup_date": self.today - datetime.timedelta(days=choose.randint(0, 900)),
            "newsletter": choose.choice(["yes", "no", None]),
        }

    def product(self) -> Row:
        choose = self.random
        category = choose.choice(list(CATEGORIES))
        department, vat = CATEGORIES[category]
        number = self._next("products", "P")
        return {
            "sku": number if self.size.text_keys else f"{category[:3].upper()}{number}",
            "name": f"{choose.choice(['fine', 'plain', 'large', 'old', 'new'])} {category} {choose.randint(1, 400)}",
            "category": category,
            "department": department,
            "vat_rate": vat,
            "price": f"{choose.randint(199, 19999) / 100:.2f}",
            "weight": None if choose.random() < 0.1 else f"{choose.uniform(0.05, 12):.3f}",
            "supplier": f"S{choose.randint(1, 15):02d}",
        }

    def _country(self, customer: Row) -> str:
        """Where a customer moves to: mostly within the country."""
        return str(customer["country"]) if self.random.random() < 0.7 else self.random.choice(self._countries)

    def _price(self, product: Row) -> str:
        """Another price."""
        return f"{float(product['price']) * self.random.uniform(0.8, 1.3):.2f}"

    def _order(self, put: Callable[[str, Row], Row]) -> Row:
        """Put an order, its items and perhaps its payment."""
        choose = self.random
        customers = self.rows["customers"]
        buyer = customers[min(int(choose.expovariate(3.0 / len(customers))), len(customers) - 1)]
        products = choose.sample(self.rows["products"], choose.choice([1, 1, 2, 2, 3, 4]))
        order = {
            "order_id": self._next("orders", "O"),
            "customer_id": buyer["customer_id"],
            "order_date": self.today,
            "status": choose.choice(["paid", "sent", "done", "done", "done", "open", "returned"]),
            "channel": choose.choices(["web", "app", "phone"], [6, 3, 1])[0],
            "ship_country": buyer["country"],
            "currency": buyer["currency"],
            "total": "",
            "coupon": choose.choice(["SPRING", "HELLO", "VIP"]) if choose.random() < 0.1 else None,
        }
        items = [
            {
                "order_id": order["order_id"],
                "line": line,
                "sku": product["sku"],
                "quantity": choose.choice([1, 1, 1, 2, 3, 10]),
                "unit_price": product["price"],
                "vat_rate": product["vat_rate"],
            }
            for line, product in enumerate(products, 1)
        ]
        order["total"] = f"{sum(each['quantity'] * float(each['unit_price']) for each in items):.2f}"
        put("orders", order)
        for each in items:
            put("items", each)
        if order["status"] != "open":
            method = choose.choices(list(PROVIDERS), [8, 5, 3, 3, 1])[0]
            payment = {
                "payment_id": self._next("payments", "Z"),
                "order_id": order["order_id"],
                "method": method,
                "provider": PROVIDERS[method],
                "amount": order["total"],
                "paid_on": self.today + datetime.timedelta(days=choose.randint(0, 3)),
            }
            put("payments", payment)
        return order

    # ---- days -------------------------------------------------------------------------------------------------------

    def day(self, number: int, plants: list[Plant]) -> Day:
        """One more day, with some problems planted."""
        day, choose = Day(number), self.random
        self.today = FIRST_DAY + datetime.timedelta(days=HISTORY + number)

        def put(table: str, row: Row) -> Row:
            day.inserts[table].append(row)
            return self.add(table, row)

        if number in (7, 15, 22):
            self._countries = list(COUNTRIES)[: len(self._countries) + 1]
        before = {name: list(rows) for name, rows in self.rows.items()}
        for _ in range(choose.randint(1, max(2, self.size.customers // 100))):
            put("customers", self.customer())
        for _ in range(choose.choice([0, 0, 1, 3])):
            put("products", self.product())
        for _ in range(int(self.size.daily * choose.uniform(0.7, 1.3) * GROWTH**number)):
            self._order(put)
        self._changes(day, before)
        for plant in plants:
            day.problems.append(plant.name)
            for table, wrong in plant.into(Delivery(self, day, before, put)):
                self.rows[table] = [row for row in self.rows[table] if row is not wrong]  # nobody buys or changes it
        return day

    def change(self, day: Day, table: str, row: Row, **values: Any) -> None:
        """Change a row that was there before: it is deleted and inserted."""
        day.deletes[table].append(dict(row))
        row.update(values)
        day.inserts[table].append(row)

    def _changes(self, day: Day, before: Mapping[str, list[Row]]) -> None:
        """What changes of older rows: e-mails, addresses in the same country, prices, statuses."""
        choose = self.random
        for row in choose.sample(before["customers"], 3):
            self.change(day, "customers", row, email=f"new{day.number}.{row['email']}")
        changed = {row["customer_id"] for row in day.deletes["customers"]}
        for row in choose.sample([row for row in before["customers"] if row["customer_id"] not in changed], 2):
            self.change(day, "customers", row, **self._address(self._country(row)))
        for row in choose.sample(before["products"], choose.choice([0, 2, 4])):
            self.change(day, "products", row, price=self._price(row))
        still_open = [row for row in before["orders"][-300:] if row["status"] in ("open", "sent")]
        for row in choose.sample(still_open, min(len(still_open), 5)):
            self.change(day, "orders", row, status="done")


@dataclass(frozen=True)
class Delivery:
    """What is delivered on a day, before it leaves the shop: `before` are the rows that were there in the morning."""

    shop: Shop
    day: Day
    before: Mapping[str, list[Row]]
    put: Callable[[str, Row], Row]

    def new(self, table: str) -> list[Row]:
        """The rows that are new, and no changes of older ones."""
        known = {id(row) for row in self.before[table]}
        return [row for row in self.day.inserts[table] if id(row) not in known]

    def untouched(self, table: str) -> list[Row]:
        """The older rows that did not change."""
        changed = {id(row) for row in self.day.inserts[table]}
        return [row for row in self.before[table] if id(row) not in changed]

    def one_of(self, rows: Iterable[Row]) -> Row:
        """Any of some rows."""
        return self.shop.random.choice(list(rows))


@dataclass(frozen=True)
class Plant:
    """A problem: its name, and what puts it into a day and gives the wrong rows."""

    name: str
    into: Callable[[Delivery], list[tuple[str, Row]]]


# ---- files ----------------------------------------------------------------------------------------------------------


def write(folder: Path, name: str, rows: list[Row]) -> Path:
    """Rows of a table as a CSV file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS[name].split())
        writer.writeheader()
        writer.writerows(rows)
    return path
