"""JSON Schema: the text is parsed and validated. Nothing that a schema names is fetched."""

from __future__ import annotations

import json
from typing import Any, Final

import jsonschema_rs

from ottla.schemas.errors import InvalidPayloadError, InvalidSchemaError
from ottla.schemas.json_text import parse_json
from ottla.schemas.source import SchemaSource

_SHOWN_MAX: Final = 200


class JsonPayloads:
    def __init__(self, source: SchemaSource) -> None:
        """Raises InvalidSchemaError."""
        document = parse_json(source.text)
        self._name = document.get("title") if isinstance(document, dict) else None
        references = [(each.name, parse_json(each.text)) for each in source.references]
        try:
            registry = jsonschema_rs.Registry(references) if references else None
            self._validator = jsonschema_rs.validator_for(document, registry=registry, offline=True)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise InvalidSchemaError(_shown(str(error))) from None

    def check(self, data: bytes, indexes: bytes | None) -> None:
        del indexes
        try:
            value = json.loads(data.decode(), parse_constant=_refuse_constant)
        except RecursionError:
            raise InvalidPayloadError("it nests too deeply") from None
        except ValueError as error:
            raise InvalidPayloadError(f"it is not JSON: {error}") from None
        try:
            if self._validator.is_valid(value):
                return
            found = next(self._validator.iter_errors(value), None)
        except ValueError as error:
            raise InvalidPayloadError(_shown(str(error))) from None
        if found is not None:
            place = "/".join(map(str, found.instance_path))
            raise InvalidPayloadError(f"/{place}: {_shown(found.message)}")

    def record_name(self, data: bytes, indexes: bytes | None) -> str | None:
        del data, indexes
        return self._name if isinstance(self._name, str) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _shown(text: str) -> str:
    """Messages quote the value."""
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
