"""Writes an Avro schema as text: the canonical and the normal form.

The canonical form keeps everything, in the order in which Avro for Java writes it, so that the text
equals what other registries store. In the normal form, names are full, the attributes have one
order and properties are sorted, so that equal schemas have equal texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.schemas.avro.tree import (
    AvroCollection,
    AvroEnum,
    AvroField,
    AvroFixed,
    AvroName,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
)
from ottla.schemas.json_text import write_json

_LOGICAL: Final = "logicalType"


def write_canonical(type_: AvroType, known: Iterable[str] = ()) -> str:
    """`known` are the full names that references define: they are named, not written out."""
    return write_json(_Canonical(known).node(type_, ""))


def write_normal(type_: AvroType, known: Iterable[str] = ()) -> str:
    return write_json(_Normal(known).node(type_))


class _Canonical:
    def __init__(self, known: Iterable[str]) -> None:
        self._written = set(known)

    def node(self, type_: AvroType, space: str) -> Any:
        if isinstance(type_, AvroPrimitive):
            return {"type": type_.kind, **type_.props} if type_.props else type_.kind
        if isinstance(type_, AvroUnion):
            return [self.node(branch, space) for branch in type_.branches]
        if isinstance(type_, AvroCollection):
            key = "items" if type_.kind == "array" else "values"
            return {"type": type_.kind, key: self.node(type_.element, space), **type_.props}
        if type_.name.full in self._written:
            return type_.name.within(space)
        self._written.add(type_.name.full)
        return self._definition(type_, space)

    def _definition(self, type_: AvroFixed | AvroEnum | AvroRecord, space: str) -> dict[str, Any]:
        node: dict[str, Any] = {"type": type_.kind, "name": type_.name.simple}
        if type_.name.space != space:
            node["namespace"] = type_.name.space
        if type_.doc is not None:
            node["doc"] = type_.doc
        if isinstance(type_, AvroRecord):
            node["fields"] = [self._field(field, type_.name) for field in type_.fields]
        elif isinstance(type_, AvroEnum):
            node["symbols"] = list(type_.symbols)
            if type_.default is not None:
                node["default"] = type_.default
        else:
            node["size"] = type_.size
        node.update(type_.props)
        if type_.aliases:
            node["aliases"] = [alias.within(type_.name.space) for alias in type_.aliases]
        return node

    def _field(self, field: AvroField, record: AvroName) -> dict[str, Any]:
        node: dict[str, Any] = {"name": field.name, "type": self.node(field.type, record.space)}
        if field.doc is not None:
            node["doc"] = field.doc
        if field.has_default:
            node["default"] = field.default
        if field.order != "ascending":
            node["order"] = field.order
        if field.aliases:
            node["aliases"] = list(field.aliases)
        node.update(field.props)
        return node


class _Normal:
    def __init__(self, known: Iterable[str]) -> None:
        self._written = set(known)

    def node(self, type_: AvroType) -> Any:
        if isinstance(type_, AvroPrimitive):
            if not type_.props:
                return type_.kind
            return {"type": type_.kind, **_sorted_props(type_.props)}
        if isinstance(type_, AvroUnion):
            return [self.node(branch) for branch in type_.branches]
        if isinstance(type_, AvroCollection):
            key = "items" if type_.kind == "array" else "values"
            return {"type": type_.kind, key: self.node(type_.element), **_sorted_props(type_.props)}
        if type_.name.full in self._written:
            return type_.name.full
        self._written.add(type_.name.full)
        node: dict[str, Any] = {"name": type_.name.full, "type": type_.kind}
        if isinstance(type_, AvroEnum):
            node["symbols"] = list(type_.symbols)
        elif isinstance(type_, AvroFixed):
            node["size"] = type_.size
        else:
            node["fields"] = [self._field(field) for field in type_.fields]
        if type_.doc:
            node["doc"] = type_.doc
        if type_.aliases:
            node["aliases"] = sorted(alias.full for alias in type_.aliases)
        if isinstance(type_, AvroEnum) and type_.default is not None:
            node["default"] = type_.default
        return {**node, **_sorted_props(type_.props)}

    def _field(self, field: AvroField) -> dict[str, Any]:
        node: dict[str, Any] = {"name": field.name, "type": self.node(field.type)}
        if field.order != "ascending":
            node["order"] = field.order
        if field.doc is not None:
            node["doc"] = field.doc
        if field.aliases:
            node["aliases"] = sorted(field.aliases)
        if field.has_default:
            node["default"] = field.default
        return {**node, **_sorted_props(field.props)} if field.props else node


def _sorted_props(props: Mapping[str, Any]) -> dict[str, Any]:
    """The logical type first, as registries write it; the scale 0 of a decimal is the default."""
    logical = props.get(_LOGICAL)
    first = [key for key in (_LOGICAL, "precision", "scale") if logical and key in props]
    if logical == "decimal" and props.get("scale") == 0:
        first.remove("scale")
        props = {key: value for key, value in props.items() if key != "scale"}
    return {key: props[key] for key in (*first, *sorted(props.keys() - set(first)))}
