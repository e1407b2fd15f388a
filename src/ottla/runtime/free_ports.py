"""Finds free ports of this host, for nodes that must know their ports before they start."""

from __future__ import annotations

import errno
import socket  # noqa: TID251  this is the seam
from collections.abc import Collection
from typing import Final

from ottla.runtime.dice import Dice

# Below the ephemeral ports, which outgoing connections might take meanwhile.
_LOWEST: Final = 10_000
_HIGHEST: Final = 32_000
_ATTEMPTS: Final = 200


def free_ports(dice: Dice, host: str, *, count: int, excluding: Collection[int] = ()) -> list[int]:
    """Returns `count` consecutive free ports. They are not reserved: another process may take
    them."""
    for _ in range(_ATTEMPTS):
        first = dice.between(low=_LOWEST, high=_HIGHEST)
        ports = list(range(first, first + count))
        if all(port not in excluding and is_free(host, port) for port in ports):
            return ports
    raise OSError(errno.EADDRINUSE, f"found no {count} free ports in a row on {host}")


def is_free(host: str, port: int) -> bool:
    """Whether the port can be bound. Raises `OSError` if the host does not have this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return False
        raise
    return True
