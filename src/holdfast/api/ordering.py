"""Does one list of columns order another? Without a state, in a table that is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from holdfast.api.opening import opened
from holdfast.engines.order.list_first import Ordered, look
from holdfast.intake.reading import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.rules.lists import ListOD


def orders(
    table: Any,
    by: str | Sequence[str],
    then: str | Sequence[str],
    *,
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Ordered:
    """Whether rows of a table that are sorted by some columns are sorted by others, too; if not, two rows that aren't.

    Columns are written as in a rule: `"Year, Salary desc"`, or `["Year", "Salary desc"]`; names that aren't plain words
    in double quotes. Nulls come first. A split is two rows that are equal by the first list and not by the second; a
    swap is two that the second puts the other way round.

    >>> import holdfast as hf, pyarrow as pa
    >>> staff = pa.table({"year": [15, 15, 16], "salary": [45, 60, 50], "bin": [1, 2, 1]})
    >>> bool(hf.orders(staff, "year, salary", "year, bin"))
    True
    >>> print(hf.orders(staff, "salary", "year"))
    [salary] orders [year]
    row 2 and row 1 are a swap: salary 50 of row 2 is below salary 60 of row 1; year 16 of row 2 is above year 15 of \
row 1.
    """
    rule = ListOD.parse(f"[{_listed(by)}] orders [{_listed(then)}]")
    with opened(table, rule.columns, "equal", options, spark, progress or SILENT) as tables:
        return look(replace(rule, table="table"), tables.tables["table"].table)


def _listed(columns: str | Sequence[str]) -> str:
    return columns if isinstance(columns, str) else ", ".join(columns)
