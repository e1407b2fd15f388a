"""Client addresses as ACLs and the Envelope API have them.

ACLs compare the text that Java prints: IPv4 as usual, IPv6 without `::` and leading zeros, IPv4
that is mapped into IPv6 as IPv4. An Envelope has the bytes of the address.
"""

from __future__ import annotations

from typing import Final

from ottla.model import Buffer, ErrorCode, KafkaError

_IPV4_BYTES: Final = 4
_IPV6_BYTES: Final = 16
# Stands for the address of a client without one, such as a simulated client.
_UNKNOWN: Final = bytes(_IPV4_BYTES)
_MAPPED: Final = bytes(10) + b"\xff\xff"


def host_text(host: str) -> str:
    """The text that the hosts of ACLs are compared with."""
    if ":" not in host:
        return host
    return _text_of(_ipv6_bytes(host))


def encode_host(host: str) -> bytes:
    """The bytes of an address; those of 0.0.0.0 if the host is not an IP address."""
    if ":" in host:
        return _ipv6_bytes(host)
    parts = host.split(".")
    if len(parts) == _IPV4_BYTES and all(part.isascii() and part.isdecimal() for part in parts):
        return bytes(map(int, parts))
    return _UNKNOWN


def decode_host(data: Buffer) -> str:
    """Raises a KafkaError with INVALID_REQUEST."""
    if len(data) not in (_IPV4_BYTES, _IPV6_BYTES):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"an address has {_IPV4_BYTES} or {_IPV6_BYTES} bytes, not {len(data)}",
        )
    return _text_of(bytes(data))


def _text_of(data: bytes) -> str:
    if len(data) == _IPV6_BYTES and data.startswith(_MAPPED):
        data = data[len(_MAPPED) :]
    if len(data) == _IPV4_BYTES:
        return ".".join(map(str, data))
    return ":".join(f"{data[at] << 8 | data[at + 1]:x}" for at in range(0, _IPV6_BYTES, 2))


def _ipv6_bytes(host: str) -> bytes:
    # Imported on first use: IPv6 clients are rare, and the import delays the start of a node.
    from ipaddress import IPv6Address

    address, _, _ = host.partition("%")
    return IPv6Address(address).packed
