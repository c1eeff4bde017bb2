"""The one place where classes of rules register: each folder below `engines/` declares the classes that it serves.

The folders are light; engines are imported when they are asked for, so that the command line answers at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from holdfast.engines import column, denial, functional, inclusion, order, pointwise, row
from holdfast.engines.contract import Drawable, Engine, RuleClass, Suggestible
from holdfast.errors import BadInput, suggest
from holdfast.rules import registry as rules
from holdfast.rules.rule import Rule

if TYPE_CHECKING:
    from holdfast.rules.given import TableRules

ALL_TABLES = "*"  # stands where the name of a table would, for classes that look across tables

_CLASSES: dict[str, RuleClass[Any]] = {}


def register(*classes: RuleClass[Any]) -> None:
    """Serve classes of rules, and know their texts."""
    for each in classes:
        _CLASSES[each.name] = each
        rules.register(*each.rules)


for _folder in (row, column, denial, functional, inclusion, order, pointwise):
    register(*_folder.RULE_CLASSES)


def rule_classes() -> Mapping[str, RuleClass[Any]]:
    """All classes of rules by name."""
    return _CLASSES


def found_classes() -> list[RuleClass[Any]]:
    """The classes whose rules are found."""
    return [each for each in rule_classes().values() if not each.given]


def given_classes() -> list[RuleClass[Any]]:
    """The classes whose rules are given."""
    return [each for each in rule_classes().values() if each.given]


def suggestible() -> list[Suggestible[Any, Any]]:
    """The classes whose rules can be suggested."""
    return [each for each in rule_classes().values() if isinstance(each, Suggestible)]


def drawable() -> list[Drawable[Any]]:
    """The classes whose findings can be drawn."""
    return [each for each in found_classes() if isinstance(each, Drawable)]


def rule_class(name: str) -> RuleClass[Any]:
    """The class with a name."""
    known = rule_classes()
    if name not in known:
        names = ", ".join(each.name for each in found_classes())
        raise BadInput(f"there is no rule class {name!r}; choose from: {names}")
    return known[name]


def given_class(text: str) -> RuleClass[Any] | None:
    """The class of given rules that a text belongs to, if it belongs to any."""
    found = rules.rule_type(text)
    return rule_class(found.given_as) if found and found.given_as else None


def class_of_text(text: str, watched: Collection[str] = ()) -> RuleClass[Any] | None:
    """The class that explains a rule of which only the text is known: one that finds such rules, if there is one. Of
    classes that write their rules as others do, those that are `watched` come first.
    """
    found = _type_found(text, watched)
    serve = [each for each in rule_classes().values() if found in each.rules]
    return min(serve, key=lambda each: each.given, default=None)


def rule_as_found(text: str, watched: Collection[str]) -> Rule:
    """The rule of a text, as the watched class that finds such rules reads it."""
    found, plain = _type_found(text, watched), rules.parse(text)
    return plain if found in (None, type(plain)) else found.parse(text)


def _type_found(text: str, watched: Collection[str]) -> type[Rule] | None:
    """The type of the rule that a text means: one that a watched class finds and writes so, if there is one."""
    plain = rules.rule_type(text)
    if plain is None:
        return None
    alike = (each for name in watched for each in rule_class(name).rules if issubclass(each, plain))
    return next((each for each in alike if each is not plain and each.means(text)), plain)


def finder(rules: type[Rule]) -> RuleClass[Any]:
    """The class that finds rules of a type."""
    return next(each for each in found_classes() if rules in each.rules)


def table_of_rows(engine: str, subject: str, text: str) -> str:
    """The table whose rows break a rule, also where its class looks across tables."""
    return rules.parse(text).table if subject == ALL_TABLES and rule_class(engine).rules else subject


def names_in(names: str | Iterable[str]) -> list[str]:
    """Names of rule classes, each once: as a list, or in one text with commas between them."""
    listed = names.split(",") if isinstance(names, str) else names
    return list(dict.fromkeys(name.strip() for name in listed if name.strip()))


def to_find(names: str | Iterable[str]) -> list[str]:
    """The same, where someone asks to find their rules: classes whose rules are given are refused."""
    asked = names_in(names)
    for name in asked:
        if rule_class(name).given:
            raise BadInput(f"rules of the class {name!r} are given, not found: write them into a rule file")
    return asked


def refuse_unknown_settings(values: Mapping[str, Any]) -> None:
    """Say so where no class of rules has a setting."""
    known = [each.name for rules in rule_classes().values() for each in fields(rules.settings)]
    for name in values:
        if name not in known:
            raise BadInput(f"there is no setting {name!r}; {suggest(name, dict.fromkeys(known))}")


def make_engine(
    name: str, values: Mapping[str, Any] | None = None, given: Mapping[str, TableRules] | None = None
) -> Engine[Any, Any]:
    """The engine of a class of rules: with the settings that concern it, and the rules that were given, by table."""
    return rule_class(name).engine(make_settings(name, values or {}), given or {})


def make_settings(name: str, values: Mapping[str, Any]) -> Any:
    """The settings that concern a class of rules."""
    own = settings_of(name)
    return rule_class(name).settings(**{key: value for key, value in values.items() if key in own})


def changed_settings(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that concern a class which are not as they are unless asked otherwise."""
    asked, usual = make_settings(name, values), rule_class(name).settings()
    own = ((each.name, getattr(asked, each.name)) for each in fields(asked))
    return {key: value for key, value in own if value != getattr(usual, key)}


def settings_with_columns() -> set[str]:
    """The names of the settings whose values name columns."""
    kinds = [get_type_hints(each.settings, include_extras=True) for each in rule_classes().values()]
    return {name for hints in kinds for name, kind in hints.items() for option in get_args(kind)[1:] if option.columns}


def settings_of(name: str) -> set[str]:
    """The names of the settings of a class of rules."""
    return {each.name for each in fields(rule_class(name).settings)}
