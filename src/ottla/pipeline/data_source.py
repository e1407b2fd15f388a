"""`format("ottla")` as Spark finds it: the source, and the sink beside it."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceStreamWriter, DataSourceWriter
from pyspark.sql.types import StructType

from ottla.pipeline.reading.data_source import OttlaSource
from ottla.pipeline.spark_worker import leave_quietly, set_aside
from ottla.pipeline.writing.data_sink import OttlaStreamWriter, OttlaWriter, require_append
from ottla.pipeline.writing.options import parse_options
from ottla.runtime.dice import SystemDice


class OttlaDataSource(OttlaSource):
    """`spark.read`, `spark.readStream`, `df.write` and `df.writeStream` with `format("ottla")`."""

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        require_append(overwrite=overwrite)
        options = parse_options(self.options, is_streaming=False)
        # The writer itself goes to the tasks and to the commit, so they agree on the id.
        write_id = options.write_id or str(SystemDice().uuid())
        return OttlaWriter(options, schema, write_id=write_id)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: ARG002, N802
        return OttlaStreamWriter(parse_options(self.options, is_streaming=True), schema)


leave_quietly()
set_aside("modules")
