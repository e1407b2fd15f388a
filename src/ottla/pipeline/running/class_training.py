"""`python -m ottla.pipeline.running.class_training OPTIONS`: a short run of Spark that uses what
pipelines use and ends. With the given Java options Java then archives the classes it has loaded."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.running.session import JAVA_OPTIONS, LOCAL, start_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS: Final = "10"
_WINDOWS: Final = """
    SELECT window.start AS since, number % 3 AS third, count(*) AS count, sum(number) AS total
    FROM (SELECT parsed.number, parsed.at FROM
          (SELECT from_json(text, 'number bigint, at timestamp') AS parsed FROM numbers))
    GROUP BY window(at, '1 minute'), number % 3
"""


def train(options: str) -> int:
    """Returns Java's exit status."""
    from pyspark import SparkContext

    with tempfile.TemporaryDirectory(prefix="ottla-classes-") as scratch:
        spark = start_session("classes", master=LOCAL, configs={JAVA_OPTIONS: options})
        rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", _ROWS).load()
        numbers = rows.selectExpr("to_json(struct(value AS number, timestamp AS at)) AS text")
        numbers.createOrReplaceTempView("numbers")
        counts = spark.sql(_WINDOWS)
        checkpoint = str(Path(scratch) / "checkpoint")
        writer = counts.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
        writer.foreachBatch(_look).trigger(availableNow=True).start().awaitTermination()
        gateway: Any = SparkContext._gateway  # noqa: SLF001 - the process is nowhere else
        spark.stop()
        # Java exits when its standard input is closed.
        gateway.proc.stdin.close()
        return int(gateway.proc.wait())


def _look(batch: DataFrame, _batch_id: int) -> None:
    batch.persist()
    batch.join(batch, "third").select("third").mapInArrow(_same, "third bigint").toArrow()
    batch.unpersist()


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    return batches


if __name__ == "__main__":
    sys.exit(train(sys.argv[1]))
