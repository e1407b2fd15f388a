"""A file with client properties that authenticate with a delegation token."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ottla.cli.client_security.jaas_text import SCRAM_MODULE, jaas_text
from ottla.cli.client_security.private_file import write_private_file
from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.configs.java_properties import format_properties
from ottla.security.sasl.mechanism import Mechanism

_SCRAM: Final = (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512)
# How the cluster's certificates are verified. The requester's own key is not for the token's users.
_VERIFICATION: Final = (
    "ssl.ca.",
    "ssl.crl.",
    "ssl.endpoint.",
    "ssl.truststore.",
    "ottla.ssl.crl.",
)


def write_token_properties(path: Path, access: ClusterAccess, token_id: str, hmac: str) -> None:
    """Connects as the requester's properties do, but with the token. Raises CommandError."""
    mechanism = access.security.properties.get("sasl.mechanism")
    options = {"username": token_id, "password": hmac, "tokenauth": "true"}
    properties = {
        name: value for name, value in access.properties.items() if name.startswith(_VERIFICATION)
    }
    properties |= {
        "bootstrap.servers": access.bootstrap,
        "security.protocol": access.security.protocol,
        "sasl.mechanism": mechanism if mechanism in _SCRAM else Mechanism.SCRAM_SHA_512,
        "sasl.jaas.config": jaas_text(SCRAM_MODULE, options),
    }
    write_private_file(path, format_properties(properties))
