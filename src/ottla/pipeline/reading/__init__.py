"""Topics as Spark reads them: Spark's Kafka columns and options, without Spark's Kafka connector.

| module | holds |
|---|---|
| `options.py`, `positions.py` | what a user may ask for, checked before anything is read |
| `topics.py` | a cluster asked for partitions and offsets |
| `ranges.py` | from where to where each task reads, and how much a trigger takes |
| `record_batches.py` | one partition's range fetched, without what was aborted |
| `arrow_rows.py` | record batches to Arrow |
| `data_source.py` | the classes that Spark calls |
"""
