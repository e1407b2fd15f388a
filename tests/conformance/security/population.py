"""The users of a secured node, one for each way to log in, and what they may do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from confluent_kafka import KafkaError

# The package has types, but its modules do not declare what they export.
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.clients import SecuredClient
from tests.conformance.security.commands import OttlaCommands
from tests.conformance.security.confluent import properties
from tests.conformance.security.logins import Endpoint, Login
from tests.conformance.security.node import PASSWORDS, SecuredNode

ADMIN: Final = Login("admin", "PLAIN", "admin", PASSWORDS["admin"])
PAULA: Final = Login("paula", "PLAIN", "paula", PASSWORDS["paula"])
SAM: Final = Login("sam", "SCRAM-SHA-256", "sam", "sam's password")
SUE: Final = Login("sue", "SCRAM-SHA-512", "sue", "sue's password")
KINDS: Final = (
    "PLAIN",
    "SCRAM-SHA-256",
    "SCRAM-SHA-512",
    "OAUTHBEARER",
    "mutual-TLS",
    "token",
)
# Nobody may use this topic and group.
CLOSED: Final = "closed"
# Has no password, but a delegation token that is created when it is needed.
TOM: Final = Login("tom", "SCRAM-SHA-256", is_token=True)
_SCRAM: Final = {
    SAM: ScramMechanism.SCRAM_SHA_256,
    SUE: ScramMechanism.SCRAM_SHA_512,
}
_ITERATIONS: Final = 4_096


class Population:
    """Each user may use topics and groups that begin with the user's
    name and a hyphen."""

    def __init__(self, node: SecuredNode) -> None:
        self._node = node
        mona = node.certificates.of_client("mona")
        olaf = Login("olaf", "OAUTHBEARER", bearer=node.bearer_token("olaf"))
        self._logins = {
            "PLAIN": PAULA,
            "SCRAM-SHA-256": SAM,
            "SCRAM-SHA-512": SUE,
            "OAUTHBEARER": olaf,
            "mutual-TLS": Login("mona", certificate=mona.keystore),
            "PKCS#12": Login("mona", certificate=mona.pkcs12),
            "token": TOM,
        }
        self._errors: list[KafkaError] = []
        self._admin = AdminClient(properties(node.endpoint(), ADMIN, self._errors))

    def login(self, kind: str) -> Login:
        login = self._logins[kind]
        if login.is_token and not login.user:
            login = self._logins[kind] = self._with_token(login)
        return login

    def endpoint(self, login: Login) -> Endpoint:
        """Where one logs in like this."""
        return self._node.endpoint("CLIENTS" if login.mechanism else "MUTUAL")

    def settle(self, clients: Iterable[SecuredClient]) -> None:
        """Gives the users their credentials and rights, and makes a topic for each user of each
        client."""
        for user, mechanism in _SCRAM.items():
            self.set_password(user, mechanism)
        names = sorted({login.name for login in self._logins.values()})
        self.allow(names)
        topics = [f"{name}-{client.name}" for client in clients for name in names]
        self.create_topics([CLOSED, *topics])

    def _with_token(self, owner: Login) -> Login:
        """A delegation token, which has an id and an HMAC in place of a name and a password."""
        commands, endpoint = OttlaCommands(self._node.home), self._node.endpoint()
        create = ("tokens", "create", "--owner", f"User:{owner.name}", "--json")
        token = json.loads(commands.run(endpoint, ADMIN, *create))
        return replace(owner, user=token["token_id"], password=token["hmac"])

    def set_password(self, login: Login, mechanism: ScramMechanism) -> None:
        upsertion = UserScramCredentialUpsertion(
            login.user, ScramCredentialInfo(mechanism, _ITERATIONS), login.password.encode()
        )
        for each in self._admin.alter_user_scram_credentials([upsertion]).values():
            each.result(TIMEOUT_S)

    def allow(self, names: Iterable[str]) -> None:
        bindings = [
            AclBinding(
                resource,
                f"{name}-",
                ResourcePatternType.PREFIXED,
                f"User:{name}",
                "*",
                operation,
                AclPermissionType.ALLOW,
            )
            for name in names
            for resource, operation in (
                (ResourceType.TOPIC, AclOperation.READ),
                (ResourceType.TOPIC, AclOperation.WRITE),
                (ResourceType.GROUP, AclOperation.READ),
            )
        ]
        for each in self._admin.create_acls(bindings).values():
            each.result(TIMEOUT_S)

    def create_topics(self, names: Iterable[str]) -> None:
        wanted = [NewTopic(name, num_partitions=1) for name in names]
        for each in self._admin.create_topics(wanted).values():
            each.result(TIMEOUT_S)
