"""`format("faulty")`: the sink `ottla`, which fails once where a test wants it to.

Spark makes a writer anew in every process, so a file says that the fault has happened.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ottla.pipeline.data_source import OttlaDataSource
from ottla.pipeline.writing.data_sink import OttlaStreamWriter, Prepared
from tests.support.spark.spark_sink import dying_at

PREFIX = "fault."


def fault_options(
    flag: Path, *, batch_id: int, at: str, number: int = 0, driver: int | None = None
) -> dict[str, str]:
    """`at` is "write", "before" or "after": while rows are written, or at the so manieth end of a
    transaction. Who is there fails; with a `driver`, that process is killed instead."""
    given = {"flag": flag, "batchId": batch_id, "at": at, "number": number, "driver": driver}
    return {PREFIX + name: str(value) for name, value in given.items() if value is not None}


class FaultyDataSource(OttlaDataSource):
    @classmethod
    def name(cls) -> str:
        return "faulty"

    def streamWriter(  # noqa: N802 - Spark's name
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        fault = {
            name.removeprefix(PREFIX): self.options.pop(name)
            for name in list(self.options)
            if name.startswith(PREFIX)
        }
        writer = super().streamWriter(schema, overwrite)
        self.options.update({PREFIX + name: value for name, value in fault.items()})
        assert isinstance(writer, OttlaStreamWriter)
        return FaultyWriter(writer, fault)


class FaultyWriter(OttlaStreamWriter):
    def __init__(self, writer: OttlaStreamWriter, fault: dict[str, str]) -> None:
        self.__dict__.update(writer.__dict__)
        self._fault = fault

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Prepared:
        if self._fault["at"] == "write":
            iterator = self._interrupted(iterator)
        return super().write(iterator)

    def commit(
        self,
        messages: Sequence[WriterCommitMessage | None],
        batchId: int,  # noqa: N803 - Spark's name
    ) -> None:
        if self._fault["at"] == "write" or batchId != int(self._fault["batchid"]):
            super().commit(messages, batchId)
            return
        before = self._fault["at"] == "before"
        with dying_at(int(self._fault["number"]), before=before, die=self._once(_fail)):
            super().commit(messages, batchId)

    def _interrupted(self, iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """After the first rows, when some are on their way."""
        for batch in iterator:
            yield batch
            self._once(lambda: os.kill(os.getpid(), signal.SIGKILL))()

    def _once(self, die: Callable[[], Any]) -> Callable[[], None]:
        def maybe_die() -> None:
            try:
                Path(self._fault["flag"]).touch(exist_ok=False)
            except FileExistsError:
                return
            if "driver" in self._fault:
                os.kill(int(self._fault["driver"]), signal.SIGKILL)
            else:
                die()

        return maybe_die


def _fail() -> None:
    raise RuntimeError("failed on purpose")
