"""Recognizes names that must be security settings although neither Kafka nor Ottla defines them."""

from __future__ import annotations

from typing import Final

from ottla.configs.sasl_mechanisms import SASL_MECHANISMS
from ottla.configs.synonyms import described_synonyms, listener_base_name

# A misspelled `ssl.` setting is meant to secure the node. Names that Kafka defines have their
# status in the definitions.
_PREFIXES: Final = (
    "authorizer.",
    "delegation.token.",
    "ottla.audit.",
    "ottla.ssl.",
    "principal.builder.",
    "sasl.",
    "ssl.",
)
_MECHANISM_PREFIXES: Final = tuple(f"{mechanism.lower()}." for mechanism in SASL_MECHANISMS)


def is_undeclared_security_setting(name: str) -> bool:
    """Whether an undefined name, possibly with a listener prefix, is a security setting."""
    if described_synonyms(name)[-1].startswith(_PREFIXES) or name.startswith(_MECHANISM_PREFIXES):
        return True
    # A SASL mechanism may be between the listener's name and the setting's name.
    base = listener_base_name(name) or ""
    return any(f".{prefix}" in base for prefix in _PREFIXES)
