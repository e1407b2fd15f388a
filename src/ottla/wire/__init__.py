"""Kafka's wire protocol: encoding and decoding, without I/O."""

from ottla.wire.apis import ApiKey, ListenerKind, request_class, response_class
from ottla.wire.errors import ProtocolError

__all__ = ["ApiKey", "ListenerKind", "ProtocolError", "request_class", "response_class"]
