"""Parses an Avro schema as the specification defines it.

Names are resolved as they are read; a reference's names are known before. With `is_strict`, names
and defaults are checked as for a schema that is new; what a registry has stored is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.schemas.avro.defaults import is_default_of
from ottla.schemas.avro.tree import (
    PRIMITIVES,
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
from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.json_text import parse_json

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ORDERS: Final = ("ascending", "descending", "ignore")
_COMMON: Final = frozenset(("type", "name", "namespace", "aliases", "doc"))
_RESERVED: Final = _COMMON | {"fields", "items", "size", "symbols", "values"}
_OF_ENUM: Final = _RESERVED | {"default"}
_OF_FIELD: Final = frozenset(("name", "type", "doc", "default", "order", "aliases"))
_SIZE_MAX: Final = 2**31 - 1


class AvroParser:
    """Parses one schema and, before it, those that it references, which share their names."""

    def __init__(self, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self.names: dict[str, AvroFixed | AvroEnum | AvroRecord] = {}

    def parse(self, text: str) -> AvroType:
        stripped = text.strip()
        if stripped in PRIMITIVES:
            return AvroPrimitive(stripped, {})
        return self._type(parse_json(text), "")

    def _type(self, node: Any, space: str) -> AvroType:
        if isinstance(node, str):
            return self._named_or_primitive(node, space)
        if isinstance(node, list):
            return self._union(node, space)
        if isinstance(node, dict):
            return self._object(node, space)
        raise InvalidSchemaError(f"{_shown(node)} is not an Avro type")

    def _named_or_primitive(self, text: str, space: str) -> AvroType:
        if text in PRIMITIVES:
            return AvroPrimitive(text, {})
        found = self.names.get(text) if "." in text else None
        if "." not in text:
            found = self.names.get(f"{space}.{text}" if space else text) or self.names.get(text)
        if found is None:
            raise InvalidSchemaError(
                f"the type {_shown(text)} is not defined; define it before it is used, or add a "
                "reference to the schema that defines it"
            )
        return found

    def _union(self, nodes: list[Any], space: str) -> AvroUnion:
        branches = tuple(self._type(node, space) for node in nodes)
        seen = set()
        for branch in branches:
            if isinstance(branch, AvroUnion):
                raise InvalidSchemaError("a union directly contains another union")
            name = branch.name.full if isinstance(branch, _NAMED) else branch.kind
            if name in seen:
                raise InvalidSchemaError(f"a union contains {_shown(name)} twice")
            seen.add(name)
        return AvroUnion(branches)

    def _object(self, node: dict[str, Any], space: str) -> AvroType:
        kind = node.get("type")
        if isinstance(kind, (dict, list)):
            return self._type(kind, space)
        if not isinstance(kind, str):
            raise InvalidSchemaError(f"no type in {_shown(node)}")
        if kind in PRIMITIVES:
            return AvroPrimitive(kind, _props(node, _RESERVED))
        if kind in ("array", "map"):
            key = "items" if kind == "array" else "values"
            if key not in node:
                raise InvalidSchemaError(f"the {kind} has no {key!r}")
            collection = AvroCollection(kind, _props(node, _RESERVED))
            collection.element = self._type(node[key], space)
            return collection
        if kind in ("record", "error"):
            return self._record(node, kind, space)
        if kind == "enum":
            return self._enum(node, space)
        if kind == "fixed":
            return self._fixed(node, space)
        return self._named_or_primitive(kind, space)

    # ---- named types

    def _record(self, node: dict[str, Any], kind: str, space: str) -> AvroRecord:
        name = self._name(node, space)
        record = AvroRecord(name, _aliases(node, name.space), _doc(node))
        record.kind = kind
        record.props = _props(node, _RESERVED)
        record.fields = ()
        self._define(record)
        fields = node.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchemaError(f"the record {name.full} has no list of fields")
        parsed = []
        seen = set()
        for field in fields:
            parsed.append(self._field(field, name))
            if parsed[-1].name in seen:
                raise InvalidSchemaError(
                    f"the record {name.full} has the field {_shown(parsed[-1].name)} twice"
                )
            seen.add(parsed[-1].name)
        record.fields = tuple(parsed)
        return record

    def _field(self, node: Any, record: AvroName) -> AvroField:
        if not isinstance(node, dict):
            raise InvalidSchemaError(f"a field of {record.full} is {_shown(node)}, not an object")
        name = node.get("name")
        if not isinstance(name, str):
            raise InvalidSchemaError(f"a field of {record.full} has no name")
        self._check_name(name)
        if "type" not in node:
            raise InvalidSchemaError(f"the field {_shown(name)} of {record.full} has no type")
        order = node.get("order", "ascending")
        if order not in _ORDERS:
            raise InvalidSchemaError(f"the order of the field {_shown(name)} is {_shown(order)}")
        aliases = node.get("aliases", [])
        if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
            raise InvalidSchemaError(f"the aliases of the field {_shown(name)} are not names")
        type_ = self._type(node["type"], record.space)
        has_default = "default" in node
        if has_default and self._is_strict and not is_default_of(type_, node["default"]):
            raise InvalidSchemaError(
                f"the default {_shown(node['default'])} of the field {_shown(name)} of "
                f"{record.full} is not a value of its type"
            )
        return AvroField(
            name,
            type_,
            _doc(node),
            has_default,
            node.get("default"),
            order,
            tuple(aliases),
            _props(node, _OF_FIELD),
        )

    def _enum(self, node: dict[str, Any], space: str) -> AvroEnum:
        name = self._name(node, space)
        enum = AvroEnum(name, _aliases(node, name.space), _doc(node))
        enum.props = _props(node, _OF_ENUM)
        symbols = node.get("symbols")
        if not isinstance(symbols, list) or not all(isinstance(each, str) for each in symbols):
            raise InvalidSchemaError(f"the enum {name.full} has no list of symbols")
        for symbol in symbols:
            self._check_name(symbol)
        if len(set(symbols)) != len(symbols):
            raise InvalidSchemaError(f"the enum {name.full} has a symbol twice")
        enum.symbols = tuple(symbols)
        enum.default = node.get("default")
        if enum.default is not None and enum.default not in enum.symbols:
            raise InvalidSchemaError(
                f"the default {_shown(enum.default)} of the enum {name.full} is no symbol of it"
            )
        self._define(enum)
        return enum

    def _fixed(self, node: dict[str, Any], space: str) -> AvroFixed:
        name = self._name(node, space)
        fixed = AvroFixed(name, _aliases(node, name.space), _doc(node))
        fixed.props = _props(node, _RESERVED)
        size = node.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _SIZE_MAX:
            raise InvalidSchemaError(f"the fixed {name.full} has no valid size")
        fixed.size = size
        self._define(fixed)
        return fixed

    def _name(self, node: dict[str, Any], space: str) -> AvroName:
        text, given = node.get("name"), node.get("namespace")
        if not isinstance(text, str) or not text:
            raise InvalidSchemaError(f"the {node['type']} has no name")
        if given is not None and not isinstance(given, str):
            raise InvalidSchemaError(f"the namespace of {_shown(text)} is not a string")
        name = _name_in(text, space if given is None else given)
        self._check_name(name.simple)
        return name

    def _define(self, named: AvroFixed | AvroEnum | AvroRecord) -> None:
        full = named.name.full
        if full in self.names:
            raise InvalidSchemaError(f"{_shown(full)} is defined twice")
        if full in PRIMITIVES:
            raise InvalidSchemaError(f"{_shown(full)} is the name of a primitive type")
        self.names[full] = named

    def _check_name(self, name: str) -> None:
        if not name or (self._is_strict and not _NAME.match(name)):
            raise InvalidSchemaError(
                f"{_shown(name)} is not an Avro name: letters, digits and underscores, not "
                "beginning with a digit"
            )


_NAMED: Final = (AvroFixed, AvroEnum, AvroRecord)


def _name_in(text: str, space: str) -> AvroName:
    dotted, _, simple = text.rpartition(".")
    return AvroName(dotted if "." in text else space, simple)


def _aliases(node: Mapping[str, Any], space: str) -> tuple[AvroName, ...]:
    aliases = node.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
        raise InvalidSchemaError(f"the aliases of {_shown(node.get('name'))} are not names")
    return tuple(_name_in(each, space) for each in aliases)


def _doc(node: Mapping[str, Any]) -> str | None:
    doc = node.get("doc")
    return doc if isinstance(doc, str) else None


def _props(node: Mapping[str, Any], reserved: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in reserved}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
