"""Rows as Spark writes them to topics: Spark's Kafka columns and options, each row exactly once.

| module | holds |
|---|---|
| `options.py` | what a user may ask for, checked before anything is written |
| `columns.py`, `rows.py` | Spark's columns |
| `refusals.py` | rows that cannot be written, and their fate |
| `murmur2.py`, `partitioner.py` | the partition of each row, as Kafka's own producer chooses it |
| `row_loops.py`, `record_bodies.py`, `batches.py` | rows to record batches, by the column |
| `sealing.py` | records made a batch of a producer |
| `transactions.py` | producer ids, and the transactions under them |
| `batch_sender.py`, `row_writer.py` | batches on their way to their partitions, in order |
| `decisions.py`, `journal.py` | what a query has decided to commit, and where that is written |
| `task.py`, `commitment.py` | the first phase, in tasks, and the second, on the driver |
| `data_sink.py` | the classes that Spark calls |

How the two phases fit together: docs/design.md, "`pipeline`: Spark".
"""
