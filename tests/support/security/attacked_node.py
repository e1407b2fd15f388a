"""A node of its own process with a listener of every kind, and what its attackers start with."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ottla.configs import Password
from ottla.security.acls.acl import AclOperation, PatternType, Permission, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism, salt_password
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.wire_connection import WireConnection
from tests.support.security.certificates import Authority, PemFiles
from tests.support.security.tokens import AUDIENCE, ISSUER, Provider

HOST: Final = "127.0.0.1"
LISTENERS: Final = ("CONTROLLER", "ADMIN", "CLIENTS", "SECURE", "MUTUAL")
PASSWORD: Final = "alice's password"
BOBS_PASSWORD: Final = "bob's password"
TOPIC: Final = "orders"
_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_USERS: Final = f'user_alice="{PASSWORD}" user_bob="{BOBS_PASSWORD}"'
_SALT: Final = b"a salt of twenty-six bytes"


class AttackedNode(NodeProcess):
    """Its listeners:

    | listener | protocol | clients |
    |---|---|---|
    | CONTROLLER | SASL_PLAINTEXT | alice with PLAIN |
    | ADMIN | PLAINTEXT | anonymous, who is a super user |
    | CLIENTS | SASL_PLAINTEXT | alice, bob with each mechanism |
    | SECURE | SASL_SSL | alice with SCRAM-SHA-256 |
    | MUTUAL | SSL | those with a certificate that is not revoked |

    Alice may do everything with topics, groups and transactions, and nothing with the cluster."""

    def __init__(self, scratch: Path, settings: Mapping[str, str] | None = None) -> None:
        self.authority = Authority(scratch)
        self.certificate = self.authority.issue("broker")
        self.provider = Provider()
        self.revoked = self.authority.issue("mallory")
        self._revocations = scratch / "revoked.pem"
        self._revocations.write_text(self.authority.revocation_list([self.revoked]))
        self._keys = scratch / "keys.json"
        self._keys.write_bytes(self.provider.jwks)
        self.audit_log = scratch / "audit.log"
        super().__init__(scratch, {**self._configs(), **(settings or {})})

    def address_of(self, listener: str) -> tuple[str, int]:
        return HOST, self.ports[LISTENERS.index(listener)]

    @contextmanager
    def connect(self, listener: str, **options: Any) -> Iterator[WireConnection]:
        with WireConnection(self.address_of(listener), **options) as connection:
            yield connection

    def client_context(self, files: PemFiles | None = None) -> ssl.SSLContext:
        """Of a client that trusts the node, with a certificate if there are files."""
        context = ssl.create_default_context(cafile=str(self.authority.truststore))
        if files is not None:
            context.load_cert_chain(files.keystore)
        return context

    def prepare(self) -> None:
        """Creates the topic, the users of SCRAM, and alice's ACLs."""
        topic = CreatableTopic(name=TOPIC, num_partitions=2, replication_factor=1)
        with self.connect("ADMIN") as admin:
            (created,) = admin.send_request(CreateTopicsRequest(topics=[topic]), 7).topics
            assert created.error_code == 0, created.error_message
            for mechanism in ScramMechanism:
                users = AlterUserScramCredentialsRequest(upsertions=[upsertion("alice", mechanism)])
                (result,) = admin.send_request(users, 0).results
                assert result.error_code == 0, result.error_message
        for kind in (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID):
            self.allow("User:alice", AclOperation.ALL, kind)

    def allow(self, principal: str, operation: AclOperation, kind: ResourceType) -> None:
        """On every resource of a kind."""
        acl = AclCreation(
            resource_type=kind,
            resource_name="*",
            resource_pattern_type=PatternType.LITERAL,
            principal=principal,
            host="*",
            operation=operation,
            permission_type=Permission.ALLOW,
        )
        with self.connect("ADMIN") as admin:
            (result,) = admin.send_request(CreateAclsRequest(creations=[acl]), 3).results
            assert result.error_code == 0, result.error_message

    def _configs(self) -> dict[str, str]:
        protocols = dict(
            zip(
                LISTENERS,
                ("SASL_PLAINTEXT", "PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL"),
                strict=True,
            )
        )
        return {
            "listeners": ",".join(f"{name}://{HOST}:0" for name in LISTENERS),
            "listener.security.protocol.map": ",".join(map(":".join, protocols.items())),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "ADMIN",
            "authorizer.class.name": _AUTHORIZER,
            "super.users": "User:ANONYMOUS",
            "delegation.token.secret.key": "a secret of all nodes",
            "connections.max.reauth.ms": "600000",
            "connection.failed.authentication.delay.ms": "10",
            "ottla.audit.log": str(self.audit_log),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            **self._of_listener("controller", **{"sasl.enabled.mechanisms": "PLAIN"}),
            **self._of_listener("controller", **{"plain.sasl.jaas.config": f"{_PLAIN} {_USERS};"}),
            **self._of_listener("clients", **{"plain.sasl.jaas.config": f"{_PLAIN} {_USERS};"}),
            **self._of_listener("clients", **self._tokens()),
            **self._of_listener("secure", **{"sasl.enabled.mechanisms": "SCRAM-SHA-256"}),
            **self._of_listener("secure", **self._tls()),
            **self._of_listener("mutual", **self._tls(), **{"ssl.client.auth": "required"}),
            **self._of_listener("mutual", **{"ottla.ssl.crl.location": str(self._revocations)}),
        }

    def _of_listener(self, name: str, **configs: str) -> dict[str, str]:
        return {f"listener.name.{name}.{key}": value for key, value in configs.items()}

    def _tokens(self) -> dict[str, str]:
        prefix = "oauthbearer.sasl.oauthbearer."
        return {
            f"{prefix}jwks.endpoint.url": f"file://{self._keys}",
            f"{prefix}expected.issuer": ISSUER,
            f"{prefix}expected.audience": AUDIENCE,
        }

    def _tls(self) -> dict[str, str]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.certificate.keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificate.truststore),
        }


def upsertion(
    name: str, mechanism: ScramMechanism, *, iterations: int = 4_096
) -> ScramCredentialUpsertion:
    salted = salt_password(
        mechanism.hash_name, Password(PASSWORD), salt=_SALT, iterations=iterations
    )
    return ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=_SALT,
        salted_password=salted,
    )
