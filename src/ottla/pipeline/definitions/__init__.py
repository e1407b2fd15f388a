"""What a pipeline's module says: sources, views and sinks, declared with decorators that only
register.

| module | holds |
|---|---|
| `registry.py` | the decorators, and what they register |
| `connector.py` | what a connector is: one small class |
| `formats.py` | JSON, CSV, text and bytes, and what does not parse |
| `avro.py`, `avro_schema.py` | Avro, the same |
| `topic.py`, `files.py`, `jdbc.py`, `delta.py` | the connectors |
"""

from ottla.pipeline.definitions.avro import Avro
from ottla.pipeline.definitions.delta import Delta
from ottla.pipeline.definitions.files import Files
from ottla.pipeline.definitions.formats import Bytes, Csv, Json, Text
from ottla.pipeline.definitions.jdbc import Jdbc
from ottla.pipeline.definitions.registry import sink, source, view
from ottla.pipeline.definitions.topic import Table, Topic

__all__ = [
    "Avro",
    "Bytes",
    "Csv",
    "Delta",
    "Files",
    "Jdbc",
    "Json",
    "Table",
    "Text",
    "Topic",
    "sink",
    "source",
    "view",
]
