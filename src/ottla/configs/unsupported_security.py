"""Security settings and secured listeners, which a node refuses because it has no security yet.

Ottla has no TLS, no SASL and no authorizer. If a node ignored such a setting, it would serve every
client in plaintext while its operator believes that it is secured. Unused entries of
`listener.security.protocol.map` are harmless and accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.synonyms import described_synonyms, listener_base_name

# For names that Kafka does not define: its authorizer reads `super.users` and
# `allow.everyone.if.no.acl.found` directly, and a misspelled `ssl.` setting is meant to enable TLS.
# Names that Kafka defines have their status in the definitions.
_PREFIXES: Final = ("authorizer.", "delegation.token.", "principal.builder.", "sasl.", "ssl.")
_NAMES: Final = frozenset({"allow.everyone.if.no.acl.found", "super.users"})
_PLAINTEXT: Final = "PLAINTEXT"

_INSTEAD: Final = "let only trusted hosts reach the node, for example with a firewall"


def is_undeclared_security_setting(name: str) -> bool:
    """Whether an undefined name, possibly with a listener prefix, is a security setting."""
    shared = described_synonyms(name)[-1]
    if shared.startswith(_PREFIXES) or shared in _NAMES:
        return True
    # A SASL mechanism may be between the listener's name and the setting's name.
    base = listener_base_name(name) or ""
    return any(f".{prefix}" in base for prefix in _PREFIXES)


def refuse_secured_listeners(texts: Iterable[str], *, protocols: Mapping[str, str]) -> None:
    """Raises InvalidConfigError for a listener (NAME://HOST:PORT) that is not PLAINTEXT."""
    for text in texts:
        protocol = protocols.get(text.partition(":")[0].strip().upper(), _PLAINTEXT)
        if protocol != _PLAINTEXT:
            raise _unsupported_protocol(f"listeners has {text}", protocol)


def refuse_secured_controllers(names: Iterable[str], *, protocols: Mapping[str, str]) -> None:
    """Raises InvalidConfigError if a controller listener's protocol is not PLAINTEXT."""
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
