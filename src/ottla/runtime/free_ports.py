"""Ports of this host that nobody listens on, for nodes that must know theirs before they start."""

from __future__ import annotations

import errno
import socket  # noqa: TID251  this is the seam
from collections.abc import Collection
from typing import Final

from ottla.runtime.dice import Dice

# Below the ports that systems give to outgoing connections, which might take one meanwhile.
_LOWEST: Final = 10_000
_HIGHEST: Final = 32_000
_ATTEMPTS: Final = 200


def free_ports(dice: Dice, host: str, *, count: int, excluding: Collection[int] = ()) -> list[int]:
    """So many ports in a row. Nobody holds them: they are free for as long as nobody else asks."""
    for _ in range(_ATTEMPTS):
        first = dice.between(low=_LOWEST, high=_HIGHEST)
        ports = list(range(first, first + count))
        if all(port not in excluding and is_free(host, port) for port in ports):
            return ports
    raise OSError(errno.EADDRINUSE, f"found no {count} free ports in a row on {host}")


def is_free(host: str, port: int) -> bool:
    """Raises `OSError` if the host has no such address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return False
        raise
    return True
