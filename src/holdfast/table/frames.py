"""Values that other libraries take as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pyarrow as pa


class Framed(ABC):
    """What is an Arrow table, and so a frame of other libraries."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""

    def to_pandas(self) -> Any:
        """As a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """As a Spark DataFrame."""
        return spark.createDataFrame(self.to_arrow())
