"""The texts of keys and FDs, as people give them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.changes.names import quoted
from holdfast.engines.declared import GivenRule
from holdfast.engines.functional.model import is_dependency, is_key, parse
from holdfast.errors import BadInput
from holdfast.table.table import Schema

EXAMPLES = ("Zip -> City", "key(Zip)")
DESCRIBED = ("a functional dependency, Zip -> City", "a key, key(Zip)")
means = is_dependency


def canonical(text: str) -> str:
    """The rule as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:
    """`key1` names a key, `fd1` an FD."""
    return "key" if is_key(text) else "fd"


def bound(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, tuple[str, ...]]:  # noqa: ARG001
    """The rule with its columns in the order of the table."""
    try:
        return parse(rule.text, schema.names, schema.name).text, ()
    except BadInput as error:
        raise BadInput(f"rule {rule.name!r}: {error}") from None


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    return rule.written({name: quoted(names.get(name, name)) for name in rule.looked_at})
