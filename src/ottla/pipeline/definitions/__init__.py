"""The vocabulary of a pipeline's module: sources, views and sinks, which decorators register.

| module | holds |
|---|---|
| `registry.py` | the decorators and the registry |
| `connector.py` | the interfaces of connectors |
| `formats.py` | JSON, CSV, text and bytes |
| `avro.py`, `avro_columns.py`, `avro_schema.py` | Avro |
| `topic.py`, `files.py`, `jdbc.py`, `delta.py` | the connectors |
| `databases.py` | the names of databases |
"""
