"""Spark: the only importer of pyspark. Sessions, sources, staging jobs, task runner, streaming.

Here are its types under names of ours, for those who hand them on and don't import Spark.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession
