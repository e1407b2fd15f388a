"""The sink: writes Spark's rows to topics exactly once, with the columns and options of Spark's
Kafka connector.

| module | holds |
|---|---|
| `options.py` | the options, checked before anything is written |
| `columns.py`, `rows.py` | Spark's columns |
| `refusals.py` | rows that cannot be written: fail, or write to a dead-letter topic |
| `row_writer.py` | rows to partitions, in batches of ottla.client's producer |
| `sink_client.py`, `errors.py` | the client by the sink's options, and its errors in their words |
| `task.py` | the first phase: rows in a prepared transaction |
| `data_sink.py` | the classes that Spark calls |

The two-phase commit itself is `ottla.client.two_phase`. How the phases fit together:
docs/design.md, "`pipeline`: Spark".
"""
