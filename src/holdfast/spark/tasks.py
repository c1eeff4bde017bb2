"""Running a function of ours in Spark's Python workers, and what can be wrong with those."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.errors import BadInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")


def collected(answers: DataFrame) -> pa.Table:
    """The rows that tasks give. A worker that lacks Holdfast, or what Holdfast needs, is told of in one sentence."""
    try:
        return answers.toArrow()
    except Exception as error:
        missing = _MISSING.search(str(error))
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j") or missing is None:
            raise
        raise BadInput(
            f"the Python of Spark's tasks has no module {missing[1]!r}: install holdfast there, in the Python that "
            "spark.pyspark.python names, or bring it along with spark.submit.pyFiles or spark.executorEnv.PYTHONPATH"
        ) from None
