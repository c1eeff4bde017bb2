"""How two rows break a rule, in a sentence."""

from __future__ import annotations

from dataclasses import replace

from holdfast.changes.diff import Witness
from holdfast.changes.naming import by_key, by_number
from holdfast.rules.pointwise import Pointwise
from holdfast.rules.sentences import sentence, why
from holdfast.table.table import Schema


def explained(rule: Pointwise, witness: Witness, schema: Schema) -> Witness:
    """The same witness, with a sentence that says how its two rows break a rule."""
    names = [by_key(key) for key in witness.keys] or [by_number(row) for row in witness.rows]
    said = why(rule, witness.values, names, schema.nulls, numeric=schema.numeric)
    return replace(witness, sentence=sentence(rule, said, names))
