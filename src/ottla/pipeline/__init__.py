"""Pipelines on Spark: sources, views and sinks declared in a Python module, and connectors.

    from ottla.pipeline import Json, Topic, sink, source, view

`spark.read.format("ottla")` needs no import: Spark finds the data source in any session whose
Python has the package (the module `pyspark_ottla`). Running needs the extra `ottla[pipeline]`.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.pipeline.definitions.avro import Avro
    from ottla.pipeline.definitions.connector import (
        BatchSink,
        Rejected,
        Sink,
        Source,
        Surroundings,
        Turn,
    )
    from ottla.pipeline.definitions.delta import Delta
    from ottla.pipeline.definitions.errors import (
        DefinitionError,
        MissingPackageError,
        UnwritableRowError,
    )
    from ottla.pipeline.definitions.files import Files
    from ottla.pipeline.definitions.formats import Bytes, Csv, Format, Json, Text
    from ottla.pipeline.definitions.jdbc import Jdbc
    from ottla.pipeline.definitions.json_subject import JsonSchema
    from ottla.pipeline.definitions.postgres import PostgresChanges
    from ottla.pipeline.definitions.protobuf_subject import Protobuf
    from ottla.pipeline.definitions.registry import sink, source, view
    from ottla.pipeline.definitions.topic import Table, Topic
else:
    _DEFINITIONS = "ottla.pipeline.definitions"
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Avro": f"{_DEFINITIONS}.avro",
            "BatchSink": f"{_DEFINITIONS}.connector",
            "Bytes": f"{_DEFINITIONS}.formats",
            "Csv": f"{_DEFINITIONS}.formats",
            "DefinitionError": f"{_DEFINITIONS}.errors",
            "Delta": f"{_DEFINITIONS}.delta",
            "Files": f"{_DEFINITIONS}.files",
            "Format": f"{_DEFINITIONS}.formats",
            "Jdbc": f"{_DEFINITIONS}.jdbc",
            "Json": f"{_DEFINITIONS}.formats",
            "JsonSchema": f"{_DEFINITIONS}.json_subject",
            "MissingPackageError": f"{_DEFINITIONS}.errors",
            "PostgresChanges": f"{_DEFINITIONS}.postgres",
            "Protobuf": f"{_DEFINITIONS}.protobuf_subject",
            "Rejected": f"{_DEFINITIONS}.connector",
            "Sink": f"{_DEFINITIONS}.connector",
            "Source": f"{_DEFINITIONS}.connector",
            "Surroundings": f"{_DEFINITIONS}.connector",
            "Table": f"{_DEFINITIONS}.topic",
            "Text": f"{_DEFINITIONS}.formats",
            "Topic": f"{_DEFINITIONS}.topic",
            "Turn": f"{_DEFINITIONS}.connector",
            "UnwritableRowError": f"{_DEFINITIONS}.errors",
            "sink": f"{_DEFINITIONS}.registry",
            "source": f"{_DEFINITIONS}.registry",
            "view": f"{_DEFINITIONS}.registry",
        },
    )

__all__ = [
    "Avro",
    "BatchSink",
    "Bytes",
    "Csv",
    "DefinitionError",
    "Delta",
    "Files",
    "Format",
    "Jdbc",
    "Json",
    "JsonSchema",
    "MissingPackageError",
    "PostgresChanges",
    "Protobuf",
    "Rejected",
    "Sink",
    "Source",
    "Surroundings",
    "Table",
    "Text",
    "Topic",
    "Turn",
    "UnwritableRowError",
    "sink",
    "source",
    "view",
]
