"""`HOST:PORT,HOST:PORT`: the bootstrap addresses of a client."""

from __future__ import annotations

import re
from typing import Final

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.network import Address

DEFAULT_PORT: Final = 9092
PORT_MAX: Final = 65_535
# A name, an IPv4 address or an IPv6 address in brackets; then optionally a port.
_ADDRESS: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/\[\]]+))(?::(?P<port>\d+))?"
)


def parse_addresses(text: str) -> tuple[Address, ...]:
    return tuple(_parse_address(part.strip()) for part in text.split(","))


def join_addresses(addresses: tuple[Address, ...]) -> str:
    return ",".join(map(address_text, addresses))


def address_text(address: Address) -> str:
    return str(address)


def _parse_address(text: str) -> Address:
    found = _ADDRESS.fullmatch(text)
    port = DEFAULT_PORT if found is None or found["port"] is None else int(found["port"])
    if found is None or not 0 < port <= PORT_MAX:
        hint = (
            "Write HOST:PORT, such as 127.0.0.1:9092 or [::1]:9092; separate several with commas."
        )
        if "://" in text:
            hint += (
                " Leave out the scheme: PLAINTEXT:// and others belong only in a broker's "
                "listeners."
            )
        message = f"{text!r} is not an address of a broker."
        raise CommandError(message, hint, exit_code=ExitCode.USAGE)
    return Address(found["ipv6"] or found["host"], port)
