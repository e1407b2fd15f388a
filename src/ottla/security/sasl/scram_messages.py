"""The four messages of SCRAM (RFC 5802), with Kafka's restrictions.

    client-first  n,[a=NAME],n=NAME,r=NONCE[,LETTERS=VALUE...]
    server-first  r=NONCE,s=SALT,i=ITERATIONS[,LETTERS=VALUE...]
    client-final  c=GS2-HEADER,r=NONCE[,LETTERS=VALUE...],p=PROOF
    server-final  v=SIGNATURE[,LETTERS=VALUE...] or e=ERROR

There is no channel binding. Names are ASCII, as in Kafka; in them `=2C` is a comma and `=3D` an
equals sign. The parsers raise a ValueError that never contains any of the message.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# The extension with which a client says that the name is a delegation token's id.
TOKEN_AUTHENTICATION: Final = "tokenauth"  # noqa: S105  not a secret

_LETTERS: Final = re.compile(r"[A-Za-z]+")
_VALUE: Final = re.compile(r"[\x01-\x2b\x2d-\x7f]+")
_NONCE: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
_NAME: Final = re.compile(r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+")
_DIGITS: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class ClientFirst:
    """The client's first message."""

    gs2_header: str
    # What the signatures are made of: the message after its header.
    bare: str = field(repr=False)
    authorization_id: str
    name: str
    nonce: str = field(repr=False)
    extensions: Mapping[str, str]

    @property
    def is_token(self) -> bool:
        return self.extensions.get(TOKEN_AUTHENTICATION, "").lower() == "true"


@dataclass(frozen=True, slots=True, repr=False)
class ServerFirst:
    text: str
    nonce: str
    salt: bytes
    iterations: int


@dataclass(frozen=True, slots=True, repr=False)
class ClientFinal:
    # What the signatures are made of.
    without_proof: str
    channel_binding: bytes
    nonce: str
    proof: bytes


@dataclass(frozen=True, slots=True, repr=False)
class ServerFinal:
    # None if the server reports an error.
    signature: bytes | None


def escape_name(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def unescape_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("the name is not a SASL name")
    return text.replace("=2C", ",").replace("=3D", "=")


def make_client_first(name: str, nonce: str, extensions: Mapping[str, str]) -> ClientFirst:
    escaped = escape_name(name)
    if not _NAME.fullmatch(escaped):
        raise ValueError("the user name must be ASCII and not empty")
    pairs = "".join(f",{key}={value}" for key, value in extensions.items())
    bare = f"n={escaped},r={nonce}{pairs}"
    return ClientFirst("n,,", bare, "", name, nonce, dict(extensions))


def parse_client_first(message: bytes) -> ClientFirst:
    parts = _text(message).split(",")
    if len(parts) < 4 or parts[0] != "n":
        raise ValueError("the GS2 header must be n: channel binding is not supported")
    authorization_id = unescape_name(_value(parts[1], "a")) if parts[1] else ""
    attributes = parts[2:]
    if attributes[0].startswith("m="):
        raise ValueError("the message demands an extension")
    return ClientFirst(
        gs2_header=f"n,{parts[1]},",
        bare=",".join(attributes),
        authorization_id=authorization_id,
        name=unescape_name(_value(attributes[0], "n")),
        nonce=_nonce(attributes[1]),
        extensions=_extensions(attributes[2:]),
    )


def make_server_first(nonce: str, salt: bytes, iterations: int) -> ServerFirst:
    text = f"r={nonce},s={b64encode(salt).decode()},i={iterations}"
    return ServerFirst(text, nonce, salt, iterations)


def parse_server_first(message: bytes) -> ServerFirst:
    text = _text(message)
    parts = text.split(",")
    if len(parts) < 3:
        raise ValueError("the message has too few attributes")
    iterations = _value(parts[2], "i")
    if not _DIGITS.fullmatch(iterations):
        raise ValueError("the number of iterations is not a number")
    _extensions(parts[3:])
    salt = _bytes(_value(parts[1], "s"))
    return ServerFirst(text, _nonce(parts[0]), salt, int(iterations))


def make_client_final(gs2_header: str, nonce: str) -> str:
    """The message without its proof."""
    return f"c={b64encode(gs2_header.encode()).decode()},r={nonce}"


def parse_client_final(message: bytes) -> ClientFinal:
    text = _text(message)
    parts = text.split(",")
    if len(parts) < 3:
        raise ValueError("the message has too few attributes")
    _extensions(parts[2:-1])
    return ClientFinal(
        without_proof=",".join(parts[:-1]),
        channel_binding=_bytes(_value(parts[0], "c")),
        nonce=_nonce(parts[1]),
        proof=_bytes(_value(parts[-1], "p")),
    )


def make_server_final(signature: bytes) -> bytes:
    return b"v=" + b64encode(signature)


def parse_server_final(message: bytes) -> ServerFinal:
    parts = _text(message).split(",")
    if parts[0].startswith("e="):
        return ServerFinal(None)
    _extensions(parts[1:])
    return ServerFinal(_bytes(_value(parts[0], "v")))


def _text(message: bytes) -> str:
    try:
        return message.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError("the message is not ASCII") from None


def _value(attribute: str, letter: str) -> str:
    name, equals, value = attribute.partition("=")
    if name != letter or not equals:
        raise ValueError(f"the attribute {letter} is missing")
    return value


def _nonce(attribute: str) -> str:
    nonce = _value(attribute, "r")
    if not _NONCE.fullmatch(nonce):
        raise ValueError("the nonce is empty or not printable")
    return nonce


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("a value is not Base64") from None


def _extensions(attributes: list[str]) -> dict[str, str]:
    extensions: dict[str, str] = {}
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        if not _LETTERS.fullmatch(name) or not _VALUE.fullmatch(value) or name in extensions:
            raise ValueError("an extension is malformed or repeated")
        extensions[name] = value
    return extensions
