"""The sink: writes Spark's rows to topics exactly once, with the columns and options of Spark's
Kafka connector.

| module | holds |
|---|---|
| `options.py` | the options, checked before anything is written |
| `columns.py`, `rows.py` | Spark's columns |
| `refusals.py` | rows that cannot be written: fail, or write to a dead-letter topic |
| `murmur2.py`, `partitioner.py` | the partition of each row, as Kafka's own producer chooses it |
| `row_loops.py`, `record_bodies.py`, `batches.py` | encode columns of rows to record batches |
| `sealing.py` | batch headers with producer id, epoch and sequence number |
| `transactions.py` | requests to transaction coordinators |
| `batch_sender.py`, `row_writer.py` | send batches to the partition leaders, in order |
| `decisions.py`, `journal.py` | commit decisions, and the topic that stores them |
| `task.py`, `commitment.py` | two-phase commit: prepare in tasks, commit on the driver |
| `data_sink.py` | the classes that Spark calls |

How the two phases fit together: docs/design.md, "`pipeline`: Spark".
"""
