"""Schemas of records: Avro, JSON Schema and Protobuf, parsed, normalised and compared.

Pure: text in, text and differences out. A `SchemaSource` is a schema as a registry stores it, with
the texts of what it references; `work` has the functions that a registry calls, in its own process
for small schemas and in a worker process for large ones and for Protobuf, whose compiler is not
ours. Nothing that a schema names is ever fetched, opened or run.
"""

from ottla.schemas.compatibility import CompatibilityLevel
from ottla.schemas.errors import InvalidSchemaError, SchemaError, SchemaTooComplexError
from ottla.schemas.source import ResolvedReference, SchemaSource, SchemaType

__all__ = [
    "CompatibilityLevel",
    "InvalidSchemaError",
    "ResolvedReference",
    "SchemaError",
    "SchemaSource",
    "SchemaTooComplexError",
    "SchemaType",
]
