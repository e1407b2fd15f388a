"""The security of a cluster that `ottla cluster up --secure` makes.

    DIR/certs/ca.pem, ca.key            the authority of the cluster
    DIR/certs/node-1.keystore.pem       a node's key and certificate
    DIR/client.properties               the user `admin`, for --command-config

Clients connect to CLIENTS with TLS and SCRAM-SHA-512. Brokers and controllers connect to each other
through INTERNAL and CONTROLLER, where both sides have certificates. An authorizer decides about all
requests; the nodes and `admin` are super users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ottla.cli.certs.files import AUTHORITY, CertificateFiles, write_pair
from ottla.cli.client_security.jaas_text import SCRAM_MODULE, jaas_text
from ottla.cli.client_security.private_file import write_private_file
from ottla.cli.cluster.layout import ClusterLayout, NodePlace
from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.configs.java_properties import format_properties
from ottla.configs.value import Password
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.scram_credential import ScramMechanism, make_credential, random_text
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

if TYPE_CHECKING:
    from ottla.cli.certs.authority import KeyPair

ADMIN: Final = "admin"
CLIENTS: Final = "CLIENTS"
INTERNAL: Final = "INTERNAL"
CERTIFICATES: Final = "certs"
_MECHANISM: Final = ScramMechanism.SCRAM_SHA_512
_ITERATIONS: Final = 8192
_AUTHORITY_NAME: Final = "Ottla development cluster CA"
_DAYS: Final = 3_650
_LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")
_EVERY_INTERFACE: Final = ("", "0.0.0.0", "::")  # noqa: S104 - certificates are not for them


@dataclass(frozen=True, slots=True)
class NewClusterSecurity:
    """Chosen once, when the cluster is created."""

    internal: Mapping[int, Address]
    admin_password: Password
    token_secret: Password = field(repr=False)

    @classmethod
    def choose(cls, internal: Mapping[int, Address], dice: Dice) -> NewClusterSecurity:
        return cls(internal, Password(random_text(dice.below)), Password(random_text(dice.below)))

    def properties(
        self, place: NodePlace, nodes: Sequence[NodePlace], *, advertised_host: str | None
    ) -> dict[str, str]:
        """The configs of a node beside those that every cluster has."""
        directory = place.folder.parent / CERTIFICATES
        internal = address_text(self.internal[place.id])
        client = place.address._replace(host=advertised_host or place.address.host)
        controller = address_text(place.controller_address)
        scram = f"listener.name.{CLIENTS.lower()}."
        return {
            "listeners": f"{CLIENTS}://{address_text(place.address)},{INTERNAL}://{internal},"
            f"CONTROLLER://{controller}",
            "advertised.listeners": f"{CLIENTS}://{address_text(client)},{INTERNAL}://{internal}",
            "listener.security.protocol.map": f"{CLIENTS}:SASL_SSL,{INTERNAL}:SSL,CONTROLLER:SSL",
            "inter.broker.listener.name": INTERNAL,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(CertificateFiles.of(directory, _name(place)).keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(CertificateFiles.of(directory, AUTHORITY).certificate),
            f"listener.name.{INTERNAL.lower()}.ssl.client.auth": "required",
            "listener.name.controller.ssl.client.auth": "required",
            f"{scram}sasl.enabled.mechanisms": _MECHANISM.mechanism,
            # Apache Kafka insists on it; the users are in the metadata.
            f"{scram}{_MECHANISM.mechanism.lower()}.sasl.jaas.config": f"{SCRAM_MODULE} required;",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": ";".join([*(f"User:CN={_name(each)}" for each in nodes), _super(ADMIN)]),
            "delegation.token.secret.key": self.token_secret.value,
        }

    def admin_record(self, dice: Dice) -> UserScramCredentialRecord:
        salt = random_text(dice.below).encode()
        credential = make_credential(
            _MECHANISM, self.admin_password, salt=salt, iterations=_ITERATIONS
        )
        return UserScramCredentialRecord(
            name=ADMIN,
            mechanism=_MECHANISM,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )

    def client_properties(self, layout: ClusterLayout, *, advertised_host: str | None) -> str:
        """The content of client.properties."""
        authority = CertificateFiles.of(layout.directory / CERTIFICATES, AUTHORITY).certificate
        bootstrap = ",".join(
            address_text(node.address._replace(host=advertised_host or node.address.host))
            for node in layout.nodes
        )
        options = {"username": ADMIN, "password": self.admin_password.value}
        properties = {
            "bootstrap.servers": bootstrap,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": Mechanism.SCRAM_SHA_512,
            "sasl.jaas.config": jaas_text(SCRAM_MODULE, options),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(authority),
        }
        # Within a value neither needs an escape, and the file is easier to read without.
        return format_properties(properties).replace("\\:", ":").replace("\\=", "=")


def write_security(
    layout: ClusterLayout, security: NewClusterSecurity, *, advertised_host: str | None
) -> None:
    """Makes the certificates and the file for clients. Raises CommandError."""
    from ottla.cli.certs.authority import Validity, make_authority, make_server

    now = datetime.fromtimestamp(SystemClock().now_ms() // 1_000, UTC)
    validity = Validity(now, _DAYS)
    directory = layout.directory / CERTIFICATES
    authority: KeyPair = make_authority(_AUTHORITY_NAME, validity)
    write_pair(directory, AUTHORITY, authority)
    for node in layout.nodes:
        hosts = _hosts(node, security, advertised_host)
        pair = make_server(authority, _name(node), hosts, validity)
        write_pair(directory, _name(node), pair)
    text = security.client_properties(layout, advertised_host=advertised_host)
    write_private_file(layout.client_properties_file, text)


def _hosts(node: NodePlace, security: NewClusterSecurity, advertised_host: str | None) -> list[str]:
    others = (
        node.address.host,
        node.controller_address.host,
        security.internal[node.id].host,
        advertised_host or "",
    )
    every = dict.fromkeys((*_LOCAL_HOSTS, *others))
    return [host for host in every if host not in _EVERY_INTERFACE]


def _name(node: NodePlace) -> str:
    return f"node-{node.id}"


def _super(user: str) -> str:
    return f"User:{user}"
