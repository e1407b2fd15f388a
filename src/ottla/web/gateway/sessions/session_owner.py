"""Which gateway has a session: the client ids of a group's members say so.

The cluster knows the members of each group, so gateways behind a balancer need no state in common.
A client id names the address of the gateway and the instance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

_PREFIX: Final = "ottla-gateway"
_SEPARATOR: Final = ";"


def client_id_of(owner: str, instance: str) -> str:
    return _SEPARATOR.join((_PREFIX, quote(owner, safe=":/."), quote(instance, safe="")))


def owner_of(client_ids: Iterable[str], instance: str) -> str | None:
    """The address of the gateway that has this instance; None if none has it."""
    for client_id in client_ids:
        parts = client_id.split(_SEPARATOR)
        if len(parts) == 3 and parts[0] == _PREFIX and unquote(parts[2]) == instance:
            return unquote(parts[1])
    return None
