"""Finds listeners that anyone who can reach the machine may use."""

from __future__ import annotations

import re
from typing import Final

from ottla.configs.listeners import ConfiguredListener
from ottla.configs.node_config import NodeConfig

_LOOPBACK: Final = re.compile(r"127(?:\.[0-9]{1,3}){3}")


def exposure_warning(node: NodeConfig) -> str | None:
    """A warning that names the listeners without authentication that are not on loopback."""
    exposed = [
        f"{listener.name} ({listener.host or 'every interface'})"
        for listener in (*node.listeners.broker, *node.listeners.controller)
        if not _is_loopback(listener)
        and not node.listener_security[listener.name].authenticates_clients
    ]
    if not exposed:
        return None
    return (
        "Clients are not authenticated on listeners that other machines may reach: "
        f"{', '.join(exposed)}. Everyone who reaches them can read, change and delete all data. "
        "Bind them to 127.0.0.1, or use the security protocol SASL_SSL, or SSL with "
        "ssl.client.auth=required"
    )


def _is_loopback(listener: ConfiguredListener) -> bool:
    host = listener.host.lower()
    return host in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None
