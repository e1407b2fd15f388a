"""`bootstrap.servers`: the addresses at which a client first looks for the cluster."""

from __future__ import annotations

import re
from typing import Any, Final

from ottla.runtime.network import Address

_DEFAULT_PORT: Final = 9092
_PORT_MAX: Final = 65_535
# A name, an IPv4 address or an IPv6 address in brackets; then optionally a port.
_ADDRESS: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/\[\]]+))(?::(?P<port>\d+))?"
)


def addresses(value: Any) -> tuple[Address, ...]:
    """From `HOST:PORT,HOST:PORT`, or a list of such texts. Raises ValueError."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    found = tuple(_address(str(part).strip()) for part in parts if str(part).strip())
    if not found:
        raise ValueError("write HOST:PORT, such as 127.0.0.1:9092")
    return found


def _address(text: str) -> Address:
    # Kafka's clients accept the name of a listener in front, and ignore it.
    found = _ADDRESS.fullmatch(text.rpartition("://")[2])
    port = _DEFAULT_PORT if found is None or found["port"] is None else int(found["port"])
    if found is None or not 0 < port <= _PORT_MAX:
        raise ValueError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9092 or [::1]:9092")
    return Address(found["ipv6"] or found["host"], port)
