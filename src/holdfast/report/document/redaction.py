"""Values on a page: as they are, or redacted (hashed), so that the page may leave the team."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engines.contract import Json
from holdfast.rules.rule import Rule
from holdfast.rules.sql import expression_sql
from holdfast.text.row_names import Values, by_key, by_number, by_values
from holdfast.visible import cut, visible

_LONGEST = 200  # letters of a value


class ShownValues:
    """Values as they are."""

    redacted = False

    def value(self, value: Any) -> str:
        """One value."""
        return "null" if value is None else cut(visible(str(value)), _LONGEST)

    def name(self, row: int, key: Values, values: Values, first: Sequence[str]) -> str:
        """The name of a row."""
        return visible(by_key(key) if key else by_values(row, values, first) if values else by_number(row))

    def rule(self, text: str, rule: Rule) -> str:  # noqa: ARG002
        """The text of a rule, or a text made from it."""
        return text


class HashedValues(ShownValues):
    """Values as short hashes. Equal values have equal hashes within a page, and other hashes in another page."""

    redacted = True

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)

    def value(self, value: Any) -> str:
        """One value."""
        if value is None:
            return "null"
        hashed = hashlib.blake2b(str(value).encode("utf-8", "surrogatepass"), key=self._salt, digest_size=4)
        return f"#{hashed.hexdigest()}"

    def name(self, row: int, key: Values, values: Values, first: Sequence[str]) -> str:  # noqa: ARG002
        """The number of a row."""
        return by_number(row)

    def rule(self, text: str, rule: Rule) -> str:
        """Hashes the constants of a rule, too."""
        named = {each.text for each in rule.constants} | {expression_sql(each).text for each in rule.constants}
        constants = sorted(named, key=len, reverse=True)  # one may contain another
        if not constants:
            return text
        any_of = "|".join(map(re.escape, constants))
        return re.sub(rf"(?<![\w\"])(?:{any_of})(?![\w\"])", lambda found: self.value(found[0]), text)


class HiddenValues(HashedValues):
    """No values at all, where texts must be the same in every run, as a hash with a salt is not."""

    def value(self, value: Any) -> str:  # noqa: ARG002
        """One value."""
        return "…"


@dataclass(frozen=True)
class ShownRow:
    """A row next to others: its number, its key and values as far as they are known, and whether it is alive."""

    row: int
    key: Values
    values: Values
    alive: bool = True

    def to_json(self, shown: ShownValues, columns: Sequence[str], rule: Rule) -> Json:
        """Its name, and what it has in some columns."""
        name = shown.name(self.row, self.key, self.values, rule.columns)
        texts = [shown.value(self.values[column]) if column in self.values else "–" for column in columns]
        return {"row": self.row, "name": name, "alive": self.alive, "values": texts}
