"""Listeners in plaintext that become secured ones while the cluster runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ottla.client_security.client_security import parse_client_security
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.integration.switch.switch_document import CLIENTS_PORT
from tests.support.nodes.node_listeners import NodePorts, PlaintextListeners
from tests.support.nodes.secured_listeners import ADMIN, MECHANISM, password_of
from tests.support.nodes.secured_wire_connection import SecuredWireConnection
from tests.support.nodes.wire_connection import WireConnection
from tests.support.security.librdkafka_properties import librdkafka_properties


@dataclass
class SwitchingListeners:
    """In plaintext until `client_properties` is set to what clients that have moved have."""

    truststore: Path
    client_properties: Mapping[str, str] | None = None
    users: Sequence[UserScramCredentialRecord] = ()

    def properties(self, node: NodePorts, roles: Collection[str]) -> dict[str, str]:
        return PlaintextListeners().properties(node, roles)

    def client_configs(self) -> dict[str, Any]:
        if self.client_properties is None:
            return {}
        return librdkafka_properties(
            self.client_properties, parse_client_security(self.client_properties)
        )

    def admin_configs(self) -> dict[str, Any]:
        if self.client_properties is None:
            return {}
        login = {"sasl.username": ADMIN, "sasl.password": password_of(ADMIN)}
        return {**self.client_configs(), **login}

    def client_port(self, node: NodePorts) -> int:
        return node.port if self.client_properties is None else node.ports[CLIENTS_PORT]

    def connect(self, host: str, port: int) -> WireConnection:
        if self.client_properties is None:
            return WireConnection((host, port))
        return SecuredWireConnection(
            (host, port), self.truststore, MECHANISM, ADMIN, password_of(ADMIN)
        )
