"""Found by Spark, which imports every module whose name begins with `pyspark_`: `format("ottla")`
works in a session without anything registered."""

from ottla.pipeline.data_source import OttlaDataSource as DefaultSource

__all__ = ["DefaultSource"]
