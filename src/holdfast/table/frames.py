"""Values that other libraries take as a table."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from holdfast.extras import needs

_NULLABLE = {  # types of pandas that have nulls
    pa.bool_(): "boolean",
    pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64",
    pa.uint8(): "UInt8", pa.uint16(): "UInt16", pa.uint32(): "UInt32", pa.uint64(): "UInt64",
    pa.string(): "string", pa.large_string(): "string",
}  # fmt: skip

_SPARK = {  # names of types that 3.5 has, too
    pa.null(): "void", pa.bool_(): "boolean", pa.float32(): "float", pa.float64(): "double", pa.date32(): "date",
    pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint",
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
        table = self.to_arrow()
        client = sys.modules["pyspark"].__version__  # `spark.version` is that of the server
        if int(client.partition(".")[0]) >= 4:
            return spark.createDataFrame(table)
        return spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], _ddl(table.schema))


def _ddl(fields: Iterable[pa.Field], between: str = " ") -> str:
    """The columns of a table, or the fields of a struct, as Spark 3.5 declares them; it takes no Arrow tables."""
    return ", ".join(f"`{each.name.replace('`', '``')}`{between}{_declared(each.type)}" for each in fields)


def _declared(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _declared(kind.value_type)
    if pa.types.is_list(kind):
        return f"array<{_declared(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{_ddl(kind, ':')}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    return _SPARK.get(kind, "string")
