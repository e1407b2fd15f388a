"""Kafka's protocol: bytes to values and back, and nothing else."""

from ottla.wire.apis import ApiKey, ListenerKind, request_class, response_class
from ottla.wire.errors import ProtocolError

__all__ = ["ApiKey", "ListenerKind", "ProtocolError", "request_class", "response_class"]
