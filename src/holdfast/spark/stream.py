"""Streaming queries of Spark whose batches go to a function in this process, one after the other.

Spark numbers the batches of a query and keeps them in its checkpoint. After a crash it gives the batch that was not
finished once more, with the same number and the same rows. The identity of a query lies in its checkpoint, too: so both
together name a batch for ever.

A folder that is not local is followed this way. The stream carries the names of the files, not their rows, so a file is
read and checked like any other batch. If a crash comes between our commit and Spark's, the same file is reported again,
and its batch id (its path) keeps it from counting twice. Files should be moved into the folder whole; names that begin
with a dot or an underscore are skipped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from holdfast.spark.frames import place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# A moved file keeps its age; by default Spark skips files that are a week older than the newest.
_ANY_AGE = "36500d"
_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_SECONDS_BETWEEN_QUESTIONS = 1  # whether to stop


class Stopped(Exception):
    """Ends a query from within a batch, which it will get once more."""


class Stream:
    """A query that runs until it is stopped, or until one of its batches fails."""

    query: StreamingQuery

    def __init__(
        self, frame: DataFrame, handle: Callable[[DataFrame, str], None], checkpoint: str, once: bool, every: float
    ) -> None:
        self._handle, self._stopped = handle, False
        self._error: BaseException | None = None
        self._handling: int | None = None  # the thread that handles a batch
        self._busy, self._identity = threading.Lock(), Future[str]()
        writer = frame.writeStream.foreachBatch(self._each).option("checkpointLocation", checkpoint)
        pace = f"{every * 1000:.0f} milliseconds"
        paced = writer.trigger(availableNow=True) if once else writer.trigger(processingTime=pace)
        self.query = paced.start()
        self._identity.set_result(str(self.query.id))

    def _each(self, batch: DataFrame, number: int) -> None:
        """Handle a batch, in a thread of Spark's."""
        with self._busy:
            self._handling = threading.get_ident()
            try:
                if self._stopped:
                    raise Stopped
                self._handle(batch, f"stream:{self._identity.result()}/{number}")
            except BaseException as error:
                self._error = error
                raise
            finally:
                self._handling = None

    def wait(self, seconds: int | None = None) -> bool:
        """Wait until the stream has ended, at most for some seconds; gives whether it has. Raises the error that ended
        it.
        """
        try:
            return self.query.awaitTermination(seconds) is not False  # None: it has, and no seconds were given
        except Exception:
            if self._error is not None and not isinstance(self._error, Stopped):
                raise self._error from None
            if self._stopped or self._error is not None:
                return True
            raise

    def stop(self) -> None:
        """End the stream, once the batch that has begun is applied. A later run goes on with the next one. A function
        that handles a batch may call this, too: then it returns at once.
        """
        self._stopped = True
        if self._handling == threading.get_ident():
            threading.Thread(target=self._end).start()
        else:
            self._end()

    def _end(self) -> None:
        with self._busy:
            pass  # the batch has ended, and the next one ends by itself
        self.query.stop()


def follow_folder(
    spark: SparkSession,
    folder: str,
    checkpoint: str,
    handle: Callable[[str], None],
    once: bool,
    every: float,
    stop: Callable[[], bool],
) -> None:
    """Call `handle` with the path of each file, the oldest first; return when stopped, or when `once` and done."""

    def each(batch: DataFrame, _: str) -> None:
        rows = batch.orderBy("modificationTime", "path").select("path").collect()
        for path in dict.fromkeys(row["path"] for row in rows):  # more than once where the folder is a pattern
            if stop():
                raise Stopped
            handle(path.removeprefix("file:"))

    reader = spark.readStream.format("binaryFile").schema(_FILES).option("maxFileAge", _ANY_AGE)
    files = reader.load(place(folder)).select("path", "modificationTime")
    stream = Stream(files, each, checkpoint, once, every)
    try:
        while not stream.wait(_SECONDS_BETWEEN_QUESTIONS) and not stop():
            pass
    finally:
        stream.stop()
