"""What is wrong with a schema, in words for the person who wrote it."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema that cannot be used."""


class InvalidSchemaError(SchemaError):
    """The text is not a schema of its type, or a reference of it is missing."""


class SchemaTooComplexError(SchemaError):
    """Comparing two schemas would take too many steps."""


class InvalidPayloadError(SchemaError):
    """The bytes of a record do not name a schema, or are not what their schema says."""
