"""What a pipeline's module says: sources, views and sinks, declared with decorators that only
register.

| module | holds |
|---|---|
| `registry.py` | the decorators, and what they register |
| `connector.py` | what a connector is: one small class |
| `formats.py` | JSON, CSV, text and bytes, and what does not parse |
| `avro.py`, `avro_columns.py`, `avro_schema.py` | Avro, the same |
| `topic.py`, `files.py`, `jdbc.py`, `delta.py` | the connectors |
"""
