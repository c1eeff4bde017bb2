"""The one place where engines register: the folder of each, which declares the classes of rules that it serves.

Engines are imported when they are asked for, so that the command line answers at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.engines.declared import RuleClass, TableRules
from holdfast.errors import BadInput, suggest

if TYPE_CHECKING:
    from holdfast.engines.contract import Engine

# Of classes that can be given, the first that means a text has it: rules about a row come before denial constraints, as
# both may start with `not`.
FOLDERS = [
    "holdfast.engines.row",
    "holdfast.engines.column",
    "holdfast.engines.denial",
    "holdfast.engines.functional",
    "holdfast.engines.inclusion",
    "holdfast.engines.order",
    "holdfast.engines.pointwise",
]
ALL_TABLES = "*"  # stands where the name of a table would, for classes that look across tables


def rule_classes() -> Mapping[str, RuleClass]:
    """All classes of rules by name."""
    return _declared_in(tuple(FOLDERS))


@cache
def _declared_in(folders: tuple[str, ...]) -> Mapping[str, RuleClass]:
    return {each.name: each for folder in folders for each in import_module(folder).RULE_CLASSES}


def found_classes() -> list[RuleClass]:
    """The classes whose rules are found."""
    return [each for each in rule_classes().values() if not each.given]


def rule_class(name: str) -> RuleClass:
    """The class with a name."""
    known = rule_classes()
    if name not in known:
        raise BadInput(
            f"there is no rule class {name!r}; choose from: {', '.join(each.name for each in found_classes())}"
        )
    return known[name]


def given_class(text: str) -> RuleClass | None:
    """The class of given rules that a text belongs to, if it belongs to any."""
    return next((each for each in rule_classes().values() if each.given and _means(each, text)), None)


def class_of_text(text: str) -> RuleClass | None:
    """The class that explains a rule of which only the text is known: one that finds such rules, if there is one."""
    meant = [each for each in rule_classes().values() if _means(each, text)]
    return min(meant, key=lambda each: each.given, default=None)


def table_of_rows(engine: str, subject: str, text: str) -> str:
    """The table whose rows break a rule, also where its class looks across tables."""
    texts = rule_class(engine).load_texts() if subject == ALL_TABLES else None
    return texts.table(text) if texts else subject


def examples() -> str:
    """Rules that can be given, for whoever wrote something else."""
    known = [each.load_texts() for each in rule_classes().values() if each.given]
    shown = [example for texts in known if texts is not None for example in texts.EXAMPLES]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


def _means(each: RuleClass, text: str) -> bool:
    texts = each.load_texts()
    return texts is not None and texts.means(text)


def names_in(names: str | Iterable[str]) -> list[str]:
    """Names of rule classes, each once: as a list, or in one text with commas between them."""
    listed = names.split(",") if isinstance(names, str) else names
    return list(dict.fromkeys(name.strip() for name in listed if name.strip()))


def refuse_given(names: Iterable[str]) -> None:
    """Say so where someone asks to find rules of a class that are given."""
    for name in names:
        if rule_class(name).given:
            raise BadInput(f"rules of the class {name!r} are given, not found: write them into a rule file")


def refuse_unknown_settings(values: Mapping[str, Any]) -> None:
    """Say so where no class of rules has a setting."""
    known = [each.name for rules in rule_classes().values() for each in fields(rules.settings)]
    for name in values:
        if name not in known:
            raise BadInput(f"there is no setting {name!r}; {suggest(name, dict.fromkeys(known))}")


def make_engine(
    name: str, values: Mapping[str, Any] | None = None, given: Mapping[str, TableRules] | None = None
) -> Engine:
    """The engine of a class of rules: with the settings that concern it, and the rules that were given, by table."""
    declared = rule_class(name)
    made: Engine = import_module(declared.engine).make(declared, make_settings(name, values or {}), given or {})
    return made


def make_settings(name: str, values: Mapping[str, Any]) -> Any:
    """The settings that concern a class of rules."""
    own = settings_of(name)
    return rule_class(name).settings(**{key: value for key, value in values.items() if key in own})


def changed_settings(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that concern a class which are not as they are unless asked otherwise."""
    asked, usual = make_settings(name, values), rule_class(name).settings()
    own = ((each.name, getattr(asked, each.name)) for each in fields(asked))
    return {key: value for key, value in own if value != getattr(usual, key)}


def settings_of(name: str) -> set[str]:
    """The names of the settings of a class of rules."""
    return {each.name for each in fields(rule_class(name).settings)}
