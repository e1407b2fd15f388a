"""The names that a file and its imports define, and how a type is named from inside a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class DefinedType(NamedTuple):
    """`descriptor` is of a message or an enum; `package` is that of its file."""

    descriptor: Any
    package: str
    file: Any
    is_enum: bool


class ProtobufSymbols:
    def __init__(self, files: Iterable[Any]) -> None:
        self.types: dict[str, DefinedType] = {}
        self._scopes = {""}
        for file in files:
            parts = file.package.split(".") if file.package else []
            self._scopes.update(".".join(parts[: count + 1]) for count in range(len(parts)))
            for name, descriptor, is_enum in _types_of(file, file.package):
                self.types[name] = DefinedType(descriptor, file.package, file, is_enum)
        self._scopes.update(self.types)

    def find(self, type_name: str) -> DefinedType | None:
        return self.types.get(type_name.removeprefix("."))

    def shortened(self, type_name: str, *, scope: str, package: str) -> str:
        """The name that most people write: from inside the message within a package, and the whole
        name of a type in another one."""
        full = type_name.removeprefix(".")
        found = self.types.get(full)
        parts = full.split(".")
        first = len(parts) - 1 if found is None or found.package == package else 0
        for start in range(first, -1, -1):
            if self._resolve(parts[start:], scope) == full:
                return ".".join(parts[start:])
        return type_name

    def _resolve(self, parts: list[str], scope: str) -> str:
        """What these parts mean there: the innermost scope that has the first one decides."""
        while True:
            candidate = f"{scope}.{parts[0]}" if scope else parts[0]
            if candidate in self._scopes:
                return ".".join((candidate, *parts[1:]))
            if not scope:
                return ""
            scope = scope.rpartition(".")[0]


def _types_of(parent: Any, scope: str) -> Iterator[tuple[str, Any, bool]]:
    prefix = f"{scope}." if scope else ""
    messages = parent.message_type if hasattr(parent, "message_type") else parent.nested_type
    for message in messages:
        yield f"{prefix}{message.name}", message, False
        yield from _types_of(message, f"{prefix}{message.name}")
    for enum in parent.enum_type:
        yield f"{prefix}{enum.name}", enum, True
