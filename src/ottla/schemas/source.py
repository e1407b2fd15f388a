"""A schema as a registry stores it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class SchemaType(Enum):
    """The values are the names in the registry's REST API."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


class ResolvedReference(NamedTuple):
    """`name` is what the schema calls it: an Avro name, a `$ref`, or the path of an import."""

    name: str
    text: str


class SchemaSource(NamedTuple):
    """`references` has everything that the schema needs, directly or not; what others need first.
    `of_schema` names those among them that the schema references itself."""

    type: SchemaType
    text: str
    references: tuple[ResolvedReference, ...] = ()

    @property
    def size(self) -> int:
        return len(self.text) + sum(len(each.text) for each in self.references)
