"""The vocabulary of a pipeline's module: sources, views and sinks, which decorators register.

| module | holds |
|---|---|
| `registry.py` | the decorators and the registry |
| `connector.py` | the interfaces of connectors |
| `formats.py` | JSON, CSV, text and bytes |
| `avro.py`, `avro_columns.py`, `avro_schema.py` | Avro |
| `subjects.py`, `registered_subject.py` | formats by subject of a schema registry |
| `subject_columns.py`, `row_decoding.py` | their columns, in tasks |
| `avro_subject.py`, `json_*.py`, `protobuf_*.py` | the three of them |
| `avro_flat.py`, `avro_loops.py` | flat Avro records by compiled loops |
| `topic.py`, `files.py`, `jdbc.py`, `delta.py` | the connectors |
| `databases.py` | the names of databases |
"""
