"""One version of a subject."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ottla.schemas import SchemaType

_PRESENT: Final = b"\x01"


class NamedReference(NamedTuple):
    """`name` is what the schema calls it, `subject` and `version` where it is."""

    name: str
    subject: str
    version: int


class RegisteredSchema(NamedTuple):
    """What a version is, whatever its subject: equal schemas share an id."""

    type: SchemaType
    text: str
    references: tuple[NamedReference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None

    def digest(self) -> bytes:
        """The bytes of the GUID: MD5, over the same bytes as in Confluent's registry, so that both
        give a schema the same GUID."""
        hashed = hashlib.md5(self.text.encode(), usedforsecurity=False)
        for reference in self.references:
            hashed.update(f"{reference.name}{reference.subject}".encode())
            hashed.update(reference.version.to_bytes(4, "big", signed=True))
        if self.metadata is not None:
            hashed.update(_PRESENT)
            _hash_metadata(hashed, self.metadata)
        if self.rule_set is not None:
            hashed.update(_PRESENT)
            for key in ("migrationRules", "domainRules", "encodingRules"):
                for rule in self.rule_set.get(key) or ():
                    _hash_rule(hashed, rule)
            _hash_texts(hashed, [self.rule_set.get("enableAt")])
        return hashed.digest()


class SchemaVersion(NamedTuple):
    subject: str
    version: int
    id: int
    schema: RegisteredSchema
    digest: bytes
    is_deleted: bool = False
    timestamp_ms: int = -1

    @property
    def guid(self) -> str:
        text = self.digest.hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _hash_metadata(hashed: Any, metadata: Mapping[str, Any]) -> None:
    for key, values in sorted((metadata.get("tags") or {}).items()):
        _hash_texts(hashed, [key, *sorted(values)])
    for pair in sorted((metadata.get("properties") or {}).items()):
        _hash_texts(hashed, pair)
    _hash_texts(hashed, sorted(metadata.get("sensitive") or ()))


def _hash_rule(hashed: Any, rule: Mapping[str, Any]) -> None:
    _hash_texts(hashed, [rule.get(key) for key in ("name", "doc", "kind", "mode", "type")])
    _hash_texts(hashed, sorted(rule.get("tags") or ()))
    for pair in sorted((rule.get("params") or {}).items()):
        _hash_texts(hashed, pair)
    _hash_texts(hashed, [rule.get(key) for key in ("expr", "onSuccess", "onFailure")])
    if rule.get("disabled"):
        hashed.update(_PRESENT)


def _hash_texts(hashed: Any, texts: Iterable[Any]) -> None:
    for text in texts:
        if text is not None:
            hashed.update(str(text).encode())
