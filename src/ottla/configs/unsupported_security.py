"""Names and listeners that promise security. A node refuses them, because it provides none yet.

Ottla has no TLS, no SASL and no authorizer. A node that ignored such a setting would serve every
client in plaintext while its operator believes it to be secured. Entries of
`listener.security.protocol.map` that no listener uses are harmless and accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.synonyms import described_synonyms, listener_base_name

# Of names that Kafka does not declare: its authorizer reads `super.users` and
# `allow.everyone.if.no.acl.found` by itself, and a misspelled `ssl.` setting promises TLS as well.
# What Kafka declares has its status in the definitions.
_PREFIXES: Final = ("authorizer.", "delegation.token.", "principal.builder.", "sasl.", "ssl.")
_NAMES: Final = frozenset({"allow.everyone.if.no.acl.found", "super.users"})
_PLAINTEXT: Final = "PLAINTEXT"

_INSTEAD: Final = "let only trusted hosts reach the node, for example with a firewall"


def is_undeclared_security_setting(name: str) -> bool:
    """Whether a name that is not declared, one listener's included, is about security."""
    shared = described_synonyms(name)[-1]
    if shared.startswith(_PREFIXES) or shared in _NAMES:
        return True
    # A SASL mechanism may stand between the listener's name and the setting's.
    base = listener_base_name(name) or ""
    return any(f".{prefix}" in base for prefix in _PREFIXES)


def refuse_secured_listeners(texts: Iterable[str], *, protocols: Mapping[str, str]) -> None:
    """Raises InvalidConfigError for a listener (NAME://HOST:PORT) that is not PLAINTEXT."""
    for text in texts:
        protocol = protocols.get(text.partition(":")[0].strip().upper(), _PLAINTEXT)
        if protocol != _PLAINTEXT:
            raise _unsupported_protocol(f"listeners has {text}", protocol)


def refuse_secured_controllers(names: Iterable[str], *, protocols: Mapping[str, str]) -> None:
    """Raises InvalidConfigError if a broker's controllers expect a protocol but PLAINTEXT."""
    for name in names:
        protocol = protocols.get(name.upper(), _PLAINTEXT)
        if protocol != _PLAINTEXT:
            raise _unsupported_protocol(f"controller.listener.names has {name}", protocol)


def _unsupported_protocol(where: str, protocol: str) -> InvalidConfigError:
    return InvalidConfigError(
        f"{where}, whose security protocol is {protocol}: Ottla supports only {_PLAINTEXT} so far, "
        "and would use it there without encryption or authentication; use a "
        f"{_PLAINTEXT} listener (or {_PLAINTEXT} for this name in listener.security.protocol.map), "
        f"and {_INSTEAD}"
    )
