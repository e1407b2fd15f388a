"""An Avro schema with what it references."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.schemas.avro.compatibility import avro_differences
from ottla.schemas.avro.parsing import AvroParser
from ottla.schemas.avro.tree import AvroRecord, AvroType
from ottla.schemas.avro.writing import write_canonical, write_normal
from ottla.schemas.difference import Difference
from ottla.schemas.source import ResolvedReference


class AvroSchema:
    def __init__(self, type_: AvroType, referenced: frozenset[str]) -> None:
        """`referenced` are the full names that references define."""
        self.type = type_
        self._referenced = referenced
        self.canonical = write_canonical(type_, referenced)

    @classmethod
    def parse(
        cls, text: str, references: Iterable[ResolvedReference] = (), *, is_strict: bool = False
    ) -> AvroSchema:
        """Raises InvalidSchemaError."""
        parser = AvroParser(is_strict=is_strict)
        for reference in references:
            parser.parse(reference.text)
        referenced = frozenset(parser.names)
        return cls(parser.parse(text), referenced)

    @property
    def normal(self) -> str:
        return write_normal(self.type, self._referenced)

    def formatted(self, form: str) -> str:
        """`resolved`: with the definitions of references written out."""
        return write_canonical(self.type) if form == "resolved" else self.canonical

    @property
    def top_fields(self) -> frozenset[str]:
        if not isinstance(self.type, AvroRecord):
            return frozenset()
        return frozenset(field.name for field in self.type.fields)

    def unreadable(self, writer: AvroSchema) -> list[Difference]:
        """Why data that were written with `writer` cannot be read with this schema."""
        return avro_differences(self.type, writer.type)
