"""Principals: the authenticated identity of a client, as a type and a name."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.envelope import DefaultPrincipalData

USER: Final = "User"
_VERSION: Final = 0
_VERSION_BYTES: Final = 2


class Principal(NamedTuple):
    """Equal to another principal of the same type and name, as in Kafka: whether a delegation token
    was used makes no difference to ACLs and owners."""

    type: str
    name: str
    is_from_token: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Principal) and self.type == other.type and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.type, self.name))

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS: Final = Principal(USER, "ANONYMOUS")


def parse_principal(text: str) -> Principal:
    """Parses `User:alice`. The name may contain colons. Raises a ValueError."""
    kind, colon, name = text.partition(":")
    if not colon:
        raise ValueError(f"{text!r} is not a principal: write its type and its name, as User:alice")
    return Principal(kind, name)


def encode_principal(principal: Principal) -> bytes:
    """The principal in an Envelope request: the version in two bytes, and the data."""
    data = DefaultPrincipalData(
        type=principal.type, name=principal.name, token_authenticated=principal.is_from_token
    )
    return _VERSION.to_bytes(_VERSION_BYTES) + data.encode(_VERSION)


def decode_principal(data: Buffer) -> Principal:
    """Raises a KafkaError with PRINCIPAL_DESERIALIZATION_FAILURE."""
    version = int.from_bytes(data[:_VERSION_BYTES], signed=True)
    try:
        if len(data) < _VERSION_BYTES or version != _VERSION:
            raise ProtocolError(f"principals have version {_VERSION} only")
        decoded = DefaultPrincipalData.decode(data[_VERSION_BYTES:], _VERSION)
    except ProtocolError as error:
        raise KafkaError(
            ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE, f"the principal cannot be read: {error}"
        ) from None
    return Principal(decoded.type, decoded.name, decoded.token_authenticated)
