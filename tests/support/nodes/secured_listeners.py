"""Listeners with TLS and SCRAM for clients, brokers and controllers, and an authorizer.

| user | does |
|---|---|
| `broker-1`, ... | connect to other brokers; may do CLUSTER_ACTION |
| `controller-1`, ... | connect to controllers; super users |
| `admin` | administers; a super user |
| `app` | produces and consumes, with the ACLs of `allow_app` |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType
from confluent_kafka.admin._scram import ScramCredentialInfo, UserScramCredentialUpsertion
from confluent_kafka.admin._scram import ScramMechanism as ScramMechanismOfClient

from ottla.configs.value import Password
from ottla.security.sasl.scram_credential import ScramMechanism, make_credential
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.support.nodes.node_listeners import HOST, NodePorts
from tests.support.nodes.secured_wire_connection import SecuredWireConnection
from tests.support.security.acls import AUTHORIZER_CLASS
from tests.support.security.certificates import Authority

MECHANISM: Final = ScramMechanism.SCRAM_SHA_512
ADMIN: Final = "admin"
APP: Final = "app"
# Connections are authenticated anew several times in each test.
REAUTHENTICATION_MS: Final = "4000"
TOKEN_SECRET: Final = "the same on all nodes"
_LISTENERS: Final = ("CLIENTS", "INTERNAL", "CONTROLLER")
_SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"


class SecuredListeners:
    """Makes the certificates and the users when it is made. Passwords follow from the names."""

    def __init__(self, directory: Path, node_ids: Collection[int] = (1, 2, 3)) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.authority = Authority(directory)
        self.keystores = {each: self.authority.issue(f"node-{each}").keystore for each in node_ids}
        # Of each node, and of the clients.
        self.truststores = {each: directory / f"node-{each}.trust.pem" for each in node_ids}
        self.client_truststore = directory / "clients.trust.pem"
        for file in (*self.truststores.values(), self.client_truststore):
            trust(file, self.authority)
        self._node_ids = node_ids
        names = [f"{kind}-{each}" for each in node_ids for kind in ("broker", "controller")]
        self.users: Sequence[UserScramCredentialRecord] = [
            scram_user(name) for name in (*names, ADMIN, APP)
        ]

    def properties(self, node: NodePorts, roles: Collection[str]) -> dict[str, str]:
        assert set(roles) == {"broker", "controller"}
        supers = [ADMIN, *(f"controller-{each}" for each in self._node_ids)]
        return {
            "listeners": f"CLIENTS://{HOST}:{node.port},INTERNAL://{HOST}:{node.internal_port},"
            f"CONTROLLER://{HOST}:{node.controller_port}",
            "listener.security.protocol.map": ",".join(f"{name}:SASL_SSL" for name in _LISTENERS),
            "inter.broker.listener.name": "INTERNAL",
            "sasl.enabled.mechanisms": MECHANISM.mechanism,
            "sasl.mechanism.inter.broker.protocol": MECHANISM.mechanism,
            "sasl.mechanism.controller.protocol": MECHANISM.mechanism,
            **login_properties("INTERNAL", f"broker-{node.id}"),
            **login_properties("CONTROLLER", f"controller-{node.id}"),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.keystores[node.id]),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.truststores[node.id]),
            "connections.max.reauth.ms": REAUTHENTICATION_MS,
            "authorizer.class.name": AUTHORIZER_CLASS,
            "super.users": ";".join(f"User:{name}" for name in supers),
            "delegation.token.secret.key": TOKEN_SECRET,
        }

    def client_configs(self) -> dict[str, Any]:
        return self.login_configs(APP)

    def admin_configs(self) -> dict[str, Any]:
        return self.login_configs(ADMIN)

    def login_configs(self, name: str) -> dict[str, Any]:
        """The configs of librdkafka for a user."""
        return {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.client_truststore),
            "sasl.mechanisms": str(MECHANISM.mechanism),
            "sasl.username": name,
            "sasl.password": password_of(name),
        }

    def client_port(self, node: NodePorts) -> int:
        return node.port

    def connect(self, host: str, port: int) -> SecuredWireConnection:
        return SecuredWireConnection(
            (host, port), self.client_truststore, MECHANISM, ADMIN, password_of(ADMIN)
        )

    def add_acls(self, bootstrap: str) -> None:
        """Lets brokers replicate, and `app` produce and consume everything."""
        admin = AdminClient({"bootstrap.servers": bootstrap, **self.admin_configs()})
        pending = admin.create_acls([*_of_brokers(self._node_ids), *acls_of_app()])
        for each in pending.values():
            each.result(30)


def trust(truststore: Path, *authorities: Authority) -> None:
    """Replaces a trust store in one step, as an operator does while nodes read it."""
    _replace(truststore, "".join(each.pem for each in authorities))


def replace_keystore(keystore: Path, authority: Authority, *, is_expired: bool = False) -> None:
    """Replaces a key and its certificate by those of an authority."""
    issued = authority.issue(f"{keystore.stem}-new", is_expired=is_expired).keystore
    _replace(keystore, issued.read_text())


def _replace(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    new.write_text(text)
    new.chmod(0o600)
    new.replace(file)


def set_password(admin: Mapping[str, Any], name: str, password: str) -> None:
    """`admin` has the configs with which to connect."""
    info = ScramCredentialInfo(ScramMechanismOfClient.SCRAM_SHA_512, 4_096)
    upsertion = UserScramCredentialUpsertion(name, info, password.encode())
    # Kept until the response: without it, the request is cancelled.
    client = AdminClient(dict(admin))
    for each in client.alter_user_scram_credentials([upsertion]).values():
        each.result(30)


def password_of(name: str) -> str:
    return f"the password of {name}"


def scram_user(name: str, password: str | None = None) -> UserScramCredentialRecord:
    credential = make_credential(
        MECHANISM, Password(password or password_of(name)), salt=f"salt of {name}".encode()
    )
    return UserScramCredentialRecord(
        name=name,
        mechanism=MECHANISM,
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )


def login_properties(listener: str, name: str, password: str | None = None) -> dict[str, str]:
    """With which a node connects to a listener of other nodes."""
    prefix = f"listener.name.{listener.lower()}.{MECHANISM.mechanism.lower()}."
    entry = f'username="{name}" password="{password or password_of(name)}"'
    return {f"{prefix}sasl.jaas.config": f"{_SCRAM_MODULE} required {entry};"}


def _of_brokers(node_ids: Iterable[int]) -> list[AclBinding]:
    return [
        _allow(f"broker-{each}", AclOperation.CLUSTER_ACTION, ResourceType.BROKER, "kafka-cluster")
        for each in node_ids
    ]


def acls_of_app() -> list[AclBinding]:
    """With which `app` may produce and consume everything."""
    types = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
    return [_allow(APP, AclOperation.ALL, each, "*") for each in types]


def _allow(
    user: str, operation: AclOperation, resource_type: ResourceType, name: str
) -> AclBinding:
    return AclBinding(
        resource_type,
        name,
        ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        operation,
        AclPermissionType.ALLOW,
    )
