"""Parses and validates `listeners`, `advertised.listeners` and the security protocol map."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ottla.configs.errors import InvalidConfigError

SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_SECURITY_PROTOCOL_MAP: Final = "listener.security.protocol.map"

_LISTENER: Final = re.compile(
    r"(?P<name>[^:/]+)://(?P<host>\[[0-9a-fA-F:.%]*\]|[0-9a-zA-Z\-%._:]*):(?P<port>[0-9]{1,5})"
)
_IPV4: Final = re.compile(r"[0-9]+(\.[0-9]+){3}")
_PORT_MAX: Final = 65_535


class ConfiguredListener(NamedTuple):
    """An empty `host` means all interfaces; when advertised, this machine's own name."""

    name: str
    host: str
    port: int
    security_protocol: str


def parse_listeners(
    texts: Iterable[str], *, config: str, protocols: Mapping[str, str]
) -> tuple[ConfiguredListener, ...]:
    """The listeners of `config`, which is `listeners` or `advertised.listeners`."""
    listeners = tuple(_parse(text, config=config, protocols=protocols) for text in texts)
    if len({listener.name for listener in listeners}) < len(listeners):
        raise InvalidConfigError(f"{config} has the same listener name twice; names must be unique")
    return listeners


def validate_ports(listeners: Iterable[ConfiguredListener]) -> None:
    """Two listeners may share a port only if one has an IPv4 and the other an IPv6 address."""
    sharing = defaultdict(list)
    for listener in listeners:
        if listener.port:
            sharing[listener.port].append(listener.host)
    for port, hosts in sharing.items():
        families = sorted(map(_address_family, hosts))
        if len(hosts) > 1 and families != ["ipv4", "ipv6"]:
            raise InvalidConfigError(
                f"listeners has {len(hosts)} listeners on port {port}: each needs its own port, "
                "except two listeners of which one has an IPv4 and one an IPv6 address"
            )


def parse_security_protocols(text: str) -> dict[str, str]:
    """Parses `NAME:PROTOCOL,...` into protocols by listener name."""
    protocols = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, colon, protocol = (part.strip() for part in pair.rpartition(":"))
        if not colon or protocol.upper() not in SECURITY_PROTOCOLS:
            raise InvalidConfigError.of_value(
                _SECURITY_PROTOCOL_MAP,
                pair,
                reason=f"must be NAME:PROTOCOL with one of {', '.join(SECURITY_PROTOCOLS)}",
            )
        protocols[name.upper()] = protocol.upper()
    return protocols


def _parse(text: str, *, config: str, protocols: Mapping[str, str]) -> ConfiguredListener:
    match = _LISTENER.fullmatch(text)
    if match is None or int(match["port"]) > _PORT_MAX:
        raise InvalidConfigError.of_value(
            config, text, reason="a listener must be NAME://HOST:PORT, such as PLAINTEXT://:9092"
        )
    name = match["name"].upper()
    protocol = protocols.get(name)
    if protocol is None:
        raise InvalidConfigError.of_value(
            config,
            text,
            reason=f"no security protocol for {name}; add {name}:PLAINTEXT or another to "
            f"{_SECURITY_PROTOCOL_MAP}",
        )
    return ConfiguredListener(name, match["host"].strip("[]"), int(match["port"]), protocol)


def _address_family(host: str) -> str:
    if ":" in host:
        return "ipv6"
    return "ipv4" if _IPV4.fullmatch(host) else "name"
