"""Tables in memory: of Arrow, pandas, Polars, and other libraries that speak Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.sources.dialect import refuse_equal_names

_WHAT_CAN_BE_READ = "give a path, or a pandas, Polars, Arrow or Spark table"


def arrow_table(source: Any) -> pa.Table:
    """The source as an Arrow table. A lazy frame of Polars is computed."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.table(source)
    library = type(source).__module__.split(".")[0]
    if library == "pandas":
        return _arrow_of_pandas(source)
    if library == "polars" and hasattr(source, "collect"):
        source = source.collect()
    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, pa.ChunkedArray):
        try:
            return pa.table(source)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise BadInput(f"can't read {type(source).__name__}: {error}; {_WHAT_CAN_BE_READ}") from None
    raise BadInput(f"can't read {type(source).__name__}; {_WHAT_CAN_BE_READ}")


def is_spark_frame(source: object) -> bool:
    """Whether a source is a DataFrame of Spark, which need not be installed."""
    return type(source).__module__.split(".")[0] == "pyspark"


def lasting(source: Any) -> Any:
    """The source in a form that can be read twice, which a stream can't."""
    if isinstance(source, str | Path) or is_spark_frame(source):
        return source
    return arrow_table(source)


def _arrow_of_pandas(frame: Any) -> pa.Table:
    refuse_equal_names(map(str, getattr(frame, "columns", ())), "the pandas DataFrame")
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
        raise BadInput(
            f"can't read the pandas {type(frame).__name__}: {error}; give a DataFrame of plain columns"
        ) from None
