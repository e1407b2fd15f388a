"""The source: reads topics into Spark, with the columns and options of Spark's Kafka connector, but
without that connector.

| module | holds |
|---|---|
| `options.py`, `positions.py` | the options, checked before anything is read |
| `cluster.py`, `topics.py` | links to a cluster; requests for partitions and offsets |
| `ranges.py` | the offset range that each task reads, and the limit of a trigger |
| `record_batches.py` | fetches one range, without the records of aborted transactions |
| `columns.py`, `arrow_rows.py` | the columns to read; record batches decoded to Arrow |
| `pushdown.py` | filters that Spark pushes down |
| `group_offsets.py` | commits a query's progress as the offsets of a consumer group |
| `data_source.py` | the classes that Spark calls |
"""
