"""The data source that Spark loads for `format("ottla")`: the source and the sink."""

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
        # Spark pickles this writer for the tasks and for the commit, so they use the same id.
        write_id = options.write_id or str(SystemDice().uuid())
        return OttlaWriter(options, schema, write_id=write_id)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: ARG002, N802
        return OttlaStreamWriter(parse_options(self.options, is_streaming=True), schema)


leave_quietly()
set_aside("modules")
