"""References in JSON Schemas: `$ref` to the same document, or to a schema that is referenced.

Only what the registry has is found; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote, urljoin

from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.json_schema.shape import SchemaNode
from ottla.schemas.json_text import parse_json
from ottla.schemas.source import ResolvedReference

# A schema that references the language itself accepts every schema; its rules are not compared.
_META: Final = ("http://json-schema.org/", "https://json-schema.org/")
# The data of these keywords are not schemas.
_DATA: Final = frozenset(("enum", "const", "default", "examples"))


class SchemaDocuments:
    """The documents of one schema, by URI."""

    def __init__(self, document: Any, references: Iterable[ResolvedReference]) -> None:
        self._documents: dict[str, SchemaNode] = {}
        self._anchors: dict[tuple[str, str], SchemaNode] = {}
        base = _id_of(document) or ""
        self.root = SchemaNode(document, base)
        for reference in references:
            self._add(reference.name, base, parse_json(reference.text))
        self._documents[""] = self._documents[base] = self.root
        self._index(document, base)

    def resolve(self, reference: str, base: str) -> SchemaNode:
        """Raises InvalidSchemaError if the registry has no such schema."""
        uri, _, fragment = urljoin(base, reference).partition("#")
        raw = reference.partition("#")[0]
        found = self._documents.get(uri if raw else base) or self._documents.get(raw)
        if found is None:
            if uri.startswith(_META):
                return SchemaNode(True, base)
            raise InvalidSchemaError(
                f"the schema that $ref {reference!r} names is not known; add it as a reference"
            )
        fragment = unquote(fragment)
        if not fragment:
            return found
        if not fragment.startswith("/"):
            anchored = self._anchors.get((found.base, fragment))
            if anchored is None:
                raise InvalidSchemaError(f"$ref {reference!r} names an anchor that does not exist")
            return anchored
        return _point(found, fragment, reference)

    def _add(self, name: str, base: str, document: Any) -> None:
        own = _id_of(document) or urljoin(base, name.partition("#")[0])
        node = SchemaNode(document, own)
        for uri in (name, urljoin(base, name), own):
            self._documents.setdefault(uri.partition("#")[0], node)
        self._index(document, own)

    def _index(self, node: Any, base: str) -> None:
        if isinstance(node, list):
            for each in node:
                self._index(each, base)
        if not isinstance(node, dict):
            return
        given = _id_of(node)
        if given is not None:
            uri, _, fragment = urljoin(base, given).partition("#")
            if fragment:
                self._anchors[base, fragment] = SchemaNode(node, base)
            if uri != base:
                base = uri
                self._documents.setdefault(base, SchemaNode(node, base))
        anchor = node.get("$anchor")
        if isinstance(anchor, str):
            self._anchors[base, anchor] = SchemaNode(node, base)
        for key, each in node.items():
            if key not in _DATA:
                self._index(each, base)


def _id_of(node: Any) -> str | None:
    if not isinstance(node, dict):
        return None
    given = node.get("$id", node.get("id") if "draft-04" in str(node.get("$schema")) else None)
    return given if isinstance(given, str) else None


def _point(start: SchemaNode, pointer: str, reference: str) -> SchemaNode:
    node, base = start
    for step in pointer[1:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isascii() and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            raise InvalidSchemaError(f"$ref {reference!r} names a place that does not exist")
        given = _id_of(node)
        if given is not None:
            base = urljoin(base, given).partition("#")[0]
    return SchemaNode(node, base)
