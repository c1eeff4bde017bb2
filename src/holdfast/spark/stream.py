"""A folder that files arrive in: Structured Streaming reports each new file once, across restarts.

The stream carries the names of the files, not their rows, so a file is read and checked like any other batch. Spark's
checkpoint remembers which files were handled. If a crash comes between our commit and Spark's, the same file is
reported again, and its batch id (its path) keeps it from counting twice. Files should be moved into the folder whole;
names that begin with a dot or an underscore are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.spark.frames import place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A moved file keeps its age; by default Spark skips files that are a week older than the newest.
_ANY_AGE = "36500d"
_FILES = "path string, modificationTime timestamp, length bigint, content binary"


def follow_folder(spark: SparkSession, folder: str, checkpoint: str, handle: Callable[[str], None], once: bool) -> None:
    """Call `handle` with the path of each file, the oldest first; return when stopped, or when `once` and done."""
    failed: list[BaseException] = []

    def each(batch: DataFrame, _: int) -> None:
        try:
            rows = batch.orderBy("modificationTime", "path").select("path").collect()
            for path in dict.fromkeys(row["path"] for row in rows):  # more than once where the folder is a pattern
                handle(path.removeprefix("file:"))
        except BaseException as error:
            failed.append(error)
            raise

    reader = spark.readStream.format("binaryFile").schema(_FILES).option("maxFileAge", _ANY_AGE)
    files = reader.load(place(folder)).select("path", "modificationTime")
    writer = files.writeStream.foreachBatch(each).option("checkpointLocation", checkpoint)
    paced = writer.trigger(availableNow=True) if once else writer.trigger(processingTime="1 second")
    query = paced.start()
    try:
        query.awaitTermination()
    except Exception:
        if failed:
            raise failed[0] from None
        raise
    finally:
        query.stop()
