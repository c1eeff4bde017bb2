"""Values that other libraries take as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pyarrow as pa

from holdfast.extras import needs

_NULLABLE = {  # types of pandas that have nulls
    pa.bool_(): "boolean",
    pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64",
    pa.uint8(): "UInt8", pa.uint16(): "UInt16", pa.uint32(): "UInt32", pa.uint64(): "UInt64",
    pa.string(): "string", pa.large_string(): "string",
}  # fmt: skip


class Framed(ABC):
    """What is an Arrow table, and so a frame of other libraries."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""

    def to_pandas(self) -> Any:
        """As a pandas frame: integers, booleans and text have pandas' nullable types, dates are its own."""
        with needs("pandas", "A pandas frame"):
            import pandas as pd

        types = {kind: pd.api.types.pandas_dtype(name) for kind, name in _NULLABLE.items()}
        return self.to_arrow().to_pandas(types_mapper=types.get, date_as_object=False)

    def to_spark(self, spark: Any) -> Any:
        """As a Spark DataFrame."""
        return spark.createDataFrame(self.to_arrow())
