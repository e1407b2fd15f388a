"""Whether one Avro schema can read data that were written with another.

The rules of schema resolution in Avro's specification, and the kinds of differences that Avro for
Java reports. Pairs of types that are being compared count as compatible, so that recursive records
end.
"""

from __future__ import annotations

from typing import Final

from ottla.schemas.avro.tree import (
    AvroCollection,
    AvroEnum,
    AvroField,
    AvroFixed,
    AvroRecord,
    AvroType,
    AvroUnion,
)
from ottla.schemas.difference import Difference, StepBudget
from ottla.schemas.errors import SchemaTooComplexError

_STEPS_MAX: Final = 200_000
_WIDER: Final = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}


def avro_differences(reader: AvroType, writer: AvroType) -> list[Difference]:
    """Why the reader cannot read what the writer wrote; empty if it can."""
    return _Comparison().compare(reader, writer, "")


class _Comparison:
    def __init__(self) -> None:
        self._found: dict[tuple[int, int], list[Difference]] = {}
        self._budget = StepBudget(_STEPS_MAX)

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        """The first result of a pair is kept, with the path on which the pair was found first."""
        pair = (id(reader), id(writer))
        if pair in self._found:
            return self._found[pair]
        if not self._budget.take():
            raise SchemaTooComplexError("the two schemas take too many steps to compare")
        self._found[pair] = []
        self._found[pair] = found = self._compare(reader, writer, path)
        return found

    def _compare(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        if isinstance(writer, AvroUnion):
            return self._of_writer_union(reader, writer, path)
        if isinstance(reader, AvroUnion):
            return self._of_reader_union(reader, writer, path)
        if isinstance(reader, AvroRecord) and isinstance(writer, AvroRecord):
            return self._records(reader, writer, path)
        if isinstance(reader, AvroCollection) and reader.kind == writer.kind:
            assert isinstance(writer, AvroCollection)
            step = "items" if reader.kind == "array" else "values"
            return self.compare(reader.element, writer.element, f"{path}/{step}")
        if isinstance(reader, AvroEnum) and isinstance(writer, AvroEnum):
            return _enums(reader, writer, path)
        if isinstance(reader, AvroFixed) and isinstance(writer, AvroFixed):
            return _fixed(reader, writer, path)
        if reader.kind == writer.kind or writer.kind in _WIDER.get(reader.kind, ()):
            return []
        return [
            Difference(
                "TYPE_MISMATCH",
                path or "/",
                f"The type at path '{path or '/'}' is {reader.kind} in the {{reader}} schema and "
                f"{writer.kind} in the {{writer}} schema, which it cannot read",
                f"reader type: {reader.kind.upper()} not compatible with writer type: "
                f"{writer.kind.upper()}",
            )
        ]

    def _of_writer_union(self, reader: AvroType, writer: AvroUnion, path: str) -> list[Difference]:
        found = []
        for index, branch in enumerate(writer.branches):
            if isinstance(reader, AvroUnion):
                if self.compare(reader, branch, path):
                    found.append(_missing_branch(branch, f"{path}/{index}"))
            else:
                found += self.compare(reader, branch, path)
        return found

    def _of_reader_union(self, reader: AvroUnion, writer: AvroType, path: str) -> list[Difference]:
        for branch in reader.branches:
            if not self.compare(branch, writer, path):
                return []
        return [_missing_branch(writer, path or "/")]

    def _records(self, reader: AvroRecord, writer: AvroRecord, path: str) -> list[Difference]:
        found = _names(reader, writer, path)
        by_name = {field.name: field for field in writer.fields}
        for index, field in enumerate(reader.fields):
            at = f"{path}/fields/{index}"
            written = _written_field(field, by_name)
            if written is not None:
                found += self.compare(field.type, written.type, f"{at}/type")
            elif not field.has_default and not _has_enum_default(field.type):
                found.append(
                    Difference(
                        "READER_FIELD_MISSING_DEFAULT_VALUE",
                        at,
                        f"The field '{field.name}' at path '{at}' in the {{reader}} schema has no "
                        "default value and is missing in the {writer} schema",
                        field.name,
                    )
                )
        return found


def _written_field(field: AvroField, by_name: dict[str, AvroField]) -> AvroField | None:
    for name in (field.name, *field.aliases):
        if name in by_name:
            return by_name[name]
    return None


def _has_enum_default(type_: AvroType) -> bool:
    return isinstance(type_, AvroEnum) and type_.default is not None


def _enums(reader: AvroEnum, writer: AvroEnum, path: str) -> list[Difference]:
    found = _names(reader, writer, path)
    known = set(reader.symbols)
    missing = [symbol for symbol in writer.symbols if symbol not in known]
    if missing and reader.default is None:
        listed = f"[{', '.join(missing)}]"
        found.append(
            Difference(
                "MISSING_ENUM_SYMBOLS",
                f"{path}/symbols",
                f"The {{reader}} schema lacks the enum symbols {listed} at path '{path}/symbols' "
                "of the {writer} schema, and has no default symbol",
                listed,
            )
        )
    return found


def _fixed(reader: AvroFixed, writer: AvroFixed, path: str) -> list[Difference]:
    found = _names(reader, writer, path)
    if reader.size != writer.size:
        found.append(
            Difference(
                "FIXED_SIZE_MISMATCH",
                f"{path}/size",
                f"The size of the fixed at path '{path}/size' is {reader.size} in the {{reader}} "
                f"schema and {writer.size} in the {{writer}} schema",
                f"expected: {writer.size}, found: {reader.size}",
            )
        )
    return found


def _names(
    reader: AvroFixed | AvroEnum | AvroRecord, writer: AvroFixed | AvroEnum | AvroRecord, path: str
) -> list[Difference]:
    """Namespaces do not count, and an alias of the reader may name the writer."""
    if reader.name.simple == writer.name.simple or writer.name in reader.aliases:
        return []
    return [
        Difference(
            "NAME_MISMATCH",
            f"{path}/name",
            f"The name at path '{path}/name' is {reader.name.full} in the {{reader}} schema and "
            f"{writer.name.full} in the {{writer}} schema; an alias would name both",
            f"expected: {writer.name.full}",
        )
    ]


def _missing_branch(branch: AvroType, path: str) -> Difference:
    kind = branch.kind.upper()
    return Difference(
        "MISSING_UNION_BRANCH",
        path,
        f"No type of the union in the {{reader}} schema can read the type {branch.kind} at path "
        f"'{path}' of the {{writer}} schema",
        f"reader union lacking writer type: {kind}",
    )
