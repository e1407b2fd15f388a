"""`format("ottla")` beside `format("kafka")`, Spark's own connector, tuned: the same session, the
same node, the same data."""

from benchmarks.pipeline.suite import run

__all__ = ["run"]
