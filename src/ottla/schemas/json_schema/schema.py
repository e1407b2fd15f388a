"""A JSON Schema with what it references."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ottla.schemas.difference import Difference
from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.json_schema.compatibility import json_differences
from ottla.schemas.json_schema.resolving import SchemaDocuments
from ottla.schemas.json_schema.shaping import Shaper
from ottla.schemas.json_text import parse_json, write_json
from ottla.schemas.source import ResolvedReference

_DRAFTS: Final = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}
_DEFAULT_DRAFT: Final = "draft-07"
_NEWER: Final = ("2019-09", "2020-12")


class JsonSchemaDocument:
    def __init__(self, document: Any, references: Iterable[ResolvedReference]) -> None:
        self.document = document
        self.draft = _draft_of(document)
        self.canonical = write_json(document)
        self._documents = SchemaDocuments(document, references)
        self._shaper = Shaper(self._documents, has_only_refs=self.draft not in _NEWER)

    @classmethod
    def parse(
        cls, text: str, references: Iterable[ResolvedReference] = (), *, is_strict: bool = False
    ) -> JsonSchemaDocument:
        """Raises InvalidSchemaError. With `is_strict`, the schema is checked against the schema of
        its draft, and every `$ref` has to lead somewhere."""
        schema = cls(parse_json(text), tuple(references))
        if not isinstance(schema.document, (dict, bool)):
            raise InvalidSchemaError("a JSON Schema is an object, true or false")
        if is_strict:
            schema.check()
        return schema

    def check(self) -> None:
        import jsonschema_rs

        draft = {"$schema": _META_URIS[self.draft]}
        document = self.document
        if isinstance(document, dict):
            document = {**document, **draft}
        try:
            jsonschema_rs.meta.validate(document)
        except jsonschema_rs.ValidationError as error:
            where = "/".join(map(str, error.instance_path))
            at = f" at '#/{where}'" if where else ""
            raise InvalidSchemaError(f"the schema{at} is not valid: {error.message}") from None
        except ValueError as error:
            raise InvalidSchemaError(f"the schema is not valid: {error}") from None
        self._check_references(self.document, self._documents.root.base)

    @property
    def normal(self) -> str:
        return write_json(self.document, sort_keys=True)

    def formatted(self, _form: str) -> str:
        return self.canonical

    @property
    def top_fields(self) -> frozenset[str]:
        properties = self.document.get("properties") if isinstance(self.document, dict) else None
        return frozenset(properties) if isinstance(properties, dict) else frozenset()

    def unreadable(self, writer: JsonSchemaDocument) -> list[Difference]:
        """Why this schema may refuse what `writer` accepts."""
        return json_differences(
            self._documents.root, self._shaper, writer._documents.root, writer._shaper
        )

    def _check_references(self, node: Any, base: str) -> None:
        if isinstance(node, list):
            for each in node:
                self._check_references(each, base)
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                self._documents.resolve(reference, base)
            for key, each in node.items():
                if key not in ("enum", "const", "default", "examples", "$ref"):
                    self._check_references(each, base)


_META_URIS: Final = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def _draft_of(document: Any) -> str:
    named = document.get("$schema") if isinstance(document, dict) else None
    if isinstance(named, str):
        for draft in _DRAFTS:
            if draft in named:
                return draft
    return _DEFAULT_DRAFT
