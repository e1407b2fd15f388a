"""A Protobuf file with what it imports."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from ottla.schemas.difference import Difference
from ottla.schemas.protobuf.compatibility import ProtobufComparison
from ottla.schemas.protobuf.compiling import compile_protobuf
from ottla.schemas.protobuf.options import OptionWriter, make_pool
from ottla.schemas.protobuf.printing import ProtobufPrinter
from ottla.schemas.protobuf.symbols import ProtobufSymbols
from ottla.schemas.source import ResolvedReference


class ProtobufSchema:
    def __init__(self, files: list[Any]) -> None:
        """The last file is the schema; the others are what it imports."""
        self.file = files[-1]
        self._options = OptionWriter(make_pool(files))
        self.symbols = ProtobufSymbols(files)
        self.canonical = self._printed(is_normal=False)

    @classmethod
    def parse(
        cls, text: str, references: Iterable[ResolvedReference] = (), *, is_strict: bool = False
    ) -> ProtobufSchema:
        """Raises InvalidSchemaError. protoc is always strict."""
        del is_strict
        return cls(compile_protobuf(text, references))

    @property
    def normal(self) -> str:
        return self._printed(is_normal=True)

    def formatted(self, form: str) -> str:
        """`serialized`: the descriptor in base64."""
        if form == "serialized":
            return base64.b64encode(self.file.SerializeToString()).decode()
        return self.canonical

    @property
    def top_fields(self) -> frozenset[str]:
        messages = self.file.message_type
        return frozenset(each.name for each in messages[0].field) if messages else frozenset()

    def unreadable(self, writer: ProtobufSchema) -> list[Difference]:
        return ProtobufComparison(writer.symbols, self.symbols).files(writer.file, self.file)

    def _printed(self, *, is_normal: bool) -> str:
        return ProtobufPrinter(self.file, self.symbols, self._options, is_normal=is_normal).text()
