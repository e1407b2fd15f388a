"""A streaming copy from topic to topic as a process of its own, which the tests kill.

`python -m tests.support.spark.copying_query JSON` runs until all that was there is copied; the JSON
is an `Order`. The query goes on where the checkpoint says that the last one was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.spark.faulty_sink import FaultyDataSource, fault_options
from tests.support.spark.spark import LOCAL, ROOT, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

END_TIMEOUT_S = 600.0
RUNS_MAX = 30


@dataclass(frozen=True, slots=True)
class Order:
    """What is copied, and where the driver is killed, if it is to be."""

    bootstrap: str
    source: str
    target: str
    # The query's checkpoint, its temporary files and what it says.
    home: str
    rows_per_batch: int
    master: str = LOCAL
    # Not the rows, but how many there are so far of each key in each second.
    counts: bool = False
    # Kills the driver at the so manieth end of a transaction of this batch.
    dies_in_batch: int | None = None
    dies_at: str = "after"
    dies_at_number: int = 2


class CopyingQuery:
    """One run. Started by `start`, over when it has copied everything or was killed."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with Path(self._order.home, "said.txt").open("ab") as said:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.support.spark.copying_query",
                    json.dumps(asdict(self._order)),
                ],
                stdout=said,
                stderr=said,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
            )

    @property
    def is_over(self) -> bool:
        assert self._process is not None
        return self._process.poll() is not None

    def wait(self) -> int:
        assert self._process is not None
        return self._process.wait(END_TIMEOUT_S)

    def kill_driver(self) -> None:
        """Spark's and Python's halves of it, by SIGKILL. Its workers notice, or write on a bit."""
        assert self._process is not None
        for pid in [*_children(self._process.pid), self._process.pid]:
            _kill(pid)
        self._process.wait()

    def kill_worker(self) -> bool:
        """One of the Python processes in which tasks run, if there is one."""
        assert self._process is not None
        for java in _children(self._process.pid):
            for daemon in _children(java):
                for worker in _children(daemon):
                    _kill(worker)
                    return True
        return False

    def said(self) -> str:
        return Path(self._order.home, "said.txt").read_text(errors="replace")[-4_000:]


def _children(pid: int) -> Sequence[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def copy(spark: SparkSession, order: Order) -> None:
    """Until all that was there is copied."""
    home = Path(order.home)
    spark.dataSource.register(FaultyDataSource)
    fault = {}
    if order.dies_in_batch is not None:
        fault = fault_options(
            home / "died",
            batch_id=order.dies_in_batch,
            at=order.dies_at,
            number=order.dies_at_number,
            driver=spark.sparkContext._gateway.proc.pid,  # type: ignore[union-attr]
        )
    always = {"kafka.bootstrap.servers": order.bootstrap}
    frame = (
        spark.readStream.format("ottla")
        .options(**always)
        .options(subscribe=order.source, startingOffsets="earliest")
        .option("maxOffsetsPerTrigger", str(order.rows_per_batch))
        .load()
    )
    if order.counts:
        writer = _counting(frame, always | {"topic": order.target}, home.name)
    else:
        writer = frame.select("key", "value").writeStream.format("faulty" if fault else "ottla")
        writer = writer.options(**always, **fault).option("topic", order.target)
    writer = writer.option("checkpointLocation", str(home / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def _counting(frame: DataFrame, options: Mapping[str, str], name: str) -> DataStreamWriter:
    """Spark gives updates to no sink that is written in Python, but as batches."""
    seconds = frame.selectExpr("key", "window(timestamp, '1 second').start AS second")
    counted = seconds.groupBy("second", "key").count()
    rows = counted.selectExpr("concat_ws(' ', second, key) AS key", "string(count) AS value")

    def write(batch: DataFrame, batch_id: int) -> None:
        writer = batch.write.format("ottla").mode("append").options(**options)
        writer.options(writeId=name, writeVersion=str(batch_id)).save()

    return rows.writeStream.outputMode("update").foreachBatch(write)


def runs(order: Order) -> Iterator[CopyingQuery]:
    """One after the other, each started, until one has copied everything."""
    for _ in range(RUNS_MAX):
        query = CopyingQuery(order)
        query.start()
        try:
            yield query
            if query.wait() == 0:
                return
        finally:
            query.kill_driver()
    raise AssertionError(f"not through after {RUNS_MAX} runs: {query.said()}")


if __name__ == "__main__":
    wanted = Order(**json.loads(sys.argv[1]))
    session = spark_session(Path(wanted.home), master=wanted.master)
    copy(session, wanted)
    session.stop()
