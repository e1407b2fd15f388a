"""The security of a simulated cluster: its settings, users, and the ACLs that its administrators
intend. Faults change the users' credentials and the ACLs.

Nodes authenticate with PLAIN at controllers, which must not need the metadata log for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ottla.runtime.network import Address
from ottla.security.acls.acl import (
    CLUSTER_NAME,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.sasl.mechanism import Mechanism
from ottla.simulation.clients.logins import GUEST, Logins, User
from ottla.simulation.clients.security_admin import SimulatedSecurityAdmin
from ottla.simulation.clients.thief import log_in
from ottla.simulation.history.security_events import ClusterSecured
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

NODE: Final = "node"
# May do anything; of the host of the story.
ROOT: Final = "root"
# Changes ACLs and credentials with a right that is an ACL itself.
OPERATOR: Final = "operator"
SUPER_USERS: Final = (NODE, ROOT)
_PRODUCERS: Final = ("producer-1", "producer-2", "producer-3")
_CONSUMER, _READER, _COPIER = "consumer", "reader", "copier"
_CONSUMER_MEMBER, _CLASSIC_MEMBER = "consumer-member", "classic-member"
CLIENT_USERS: Final = (*_PRODUCERS, _CONSUMER, _CONSUMER_MEMBER, _CLASSIC_MEMBER, _COPIER, _READER)
# The user of a host by the beginning of its name.
_USERS_OF_HOSTS: Final = {
    "story": ROOT,
    "consumer-": _CONSUMER,
    "member-SimulatedConsumerMember": _CONSUMER_MEMBER,
    "member-SimulatedClassicMember": _CLASSIC_MEMBER,
    "copier-": _COPIER,
    "transaction readers": _READER,
    GUEST: GUEST,
    **{name: name for name in _PRODUCERS},
}
_MECHANISMS: Final = (
    Mechanism.PLAIN,
    Mechanism.PLAIN,
    Mechanism.SCRAM_SHA_256,
    Mechanism.SCRAM_SHA_256,
    Mechanism.SCRAM_SHA_512,
)
_REAUTH_MS: Final = (0, 0, 4_000)
_PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_PROTOCOL: Final = "SASL_PLAINTEXT"
_LISTENERS: Final = (_PROTOCOL.lower(), "controller")
_PREFIX_LENGTH: Final = 3
EVERYONE: Final = "User:*"


class SimulatedSecurity:
    """Made before its cluster. Clients on all hosts of the world authenticate from then on."""

    def __init__(self, world: World, *, topic: str, copies: str, copiers: str) -> None:
        """`copies` is the topic of the copies, `copiers` the group of those who make them."""
        self._world = world
        dice = world.dice.fork("security")
        self._node_mechanism = dice.choice((Mechanism.PLAIN, Mechanism.SCRAM_SHA_256))
        self._reauth_ms = dice.choice(_REAUTH_MS)
        users = [User(name, Mechanism.PLAIN) for name in (ROOT, GUEST)]
        users.append(User(OPERATOR, dice.choice(_MECHANISMS)))
        users += [User(name, dice.choice(_MECHANISMS)) for name in CLIENT_USERS]
        self._node = User(NODE, self._node_mechanism)
        self.logins = Logins(world.record, dice.fork("logins"), users, _user_of)
        world.surroundings.channel_security = self.logins.channel_security
        # Without the entries that two users have in common.
        self.intended = list(dict.fromkeys(_grants(dice.fork("grants"), topic, copies, copiers)))
        self._hosts: dict[str, Host] = {}
        # The node's user is one of them in any case: controllers use PLAIN only.
        plain = [self._node, *(user for user in users if user.mechanism is Mechanism.PLAIN)]
        self._plain = tuple((user.name, user.passwords[0]) for user in plain)
        supers = tuple(f"User:{name}" for name in SUPER_USERS)
        world.record(ClusterSecured("cluster", supers, self._plain))

    def credentials(self) -> list[UserScramCredentialRecord]:
        """With which the nodes are formatted."""
        users = [*self.logins.users.values(), self._node]
        return [
            self.logins.make_credential(user, user.passwords[0])
            for user in users
            if user.scram is not None
        ]

    @property
    def properties(self) -> Mapping[str, str]:
        password = self._node.passwords[0]
        options = f'username="{NODE}" password="{password}"'
        plain = " ".join(f'user_{name}="{secret}"' for name, secret in self._plain)
        configs = {
            "listener.security.protocol.map": f"CONTROLLER:{_PROTOCOL},{_PROTOCOL}:{_PROTOCOL}",
            "security.inter.broker.protocol": _PROTOCOL,
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "sasl.mechanism.inter.broker.protocol": self._node_mechanism.value,
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
            "connections.max.reauth.ms": str(self._reauth_ms),
            "authorizer.class.name": _AUTHORIZER,
            "super.users": ";".join(f"User:{name}" for name in SUPER_USERS),
            "delegation.token.secret.key": "a secret of all nodes",
        }
        for listener in _LISTENERS:
            configs[f"listener.name.{listener}.plain.sasl.jaas.config"] = (
                f"{_PLAIN_MODULE} required {options} {plain};"
            )
        configs[f"listener.name.{_LISTENERS[0]}.scram-sha-256.sasl.jaas.config"] = (
            f"{_SCRAM_MODULE} required {options};"
        )
        return configs

    def admin(
        self, user: str, bootstrap: Sequence[Address], *, name: str
    ) -> SimulatedSecurityAdmin:
        """Sends requests as that user."""
        host = self._world.here if user == ROOT else self._host(self.logins.desk_of(user))
        return SimulatedSecurityAdmin(self._world, host, bootstrap, name=name)

    async def log_in_with_token(self, user: str, bootstrap: Sequence[Address]) -> None:
        """Sends a request on a new connection."""
        host = self._host(self.logins.pocket_of(user))
        await self._world.run_on(host, log_in(host, bootstrap, name=f"token of {user}"))

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = self._world.host(name)
        return host


def acl(
    principal: str,
    operation: AclOperation,
    resource_type: ResourceType,
    name: str,
    *,
    pattern: PatternType = PatternType.LITERAL,
    permission: Permission = Permission.ALLOW,
    host: str = "*",
) -> AclBinding:
    return AclBinding(
        ResourcePattern(resource_type, name, pattern),
        AccessControlEntry(principal, host, operation, permission),
    )


def patterned(
    dice: SeededDice, principal: str, operation: AclOperation, kind: ResourceType, name: str
) -> AclBinding:
    """An entry that allows the operation on this resource, and perhaps more."""
    operation = dice.choice((operation, operation, AclOperation.ALL))
    match dice.choice(tuple(PatternType)[-2:]), dice.chance(0.2):
        case _, True:
            return acl(principal, operation, kind, "*")
        case PatternType.PREFIXED, _:
            prefix = name[:_PREFIX_LENGTH]
            return acl(principal, operation, kind, prefix, pattern=PatternType.PREFIXED)
    return acl(principal, operation, kind, name)


def _user_of(host: str) -> str:
    return next(user for start, user in _USERS_OF_HOSTS.items() if host.startswith(start))


def _grants(dice: SeededDice, topic: str, copies: str, copiers: str) -> Iterator[AclBinding]:
    read, write = AclOperation.READ, AclOperation.WRITE
    topics, groups = ResourceType.TOPIC, ResourceType.GROUP
    yield acl(f"User:{OPERATOR}", AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    for name in _PRODUCERS:
        granted = patterned(dice, f"User:{name}", write, topics, topic)
        if dice.chance(0.3):
            # The user's host has its name.
            granted = granted._replace(entry=granted.entry._replace(host=name))
        yield granted
    readers = [_CONSUMER, _CONSUMER_MEMBER, _CLASSIC_MEMBER, _COPIER]
    for name in readers:
        principal = EVERYONE if dice.chance(0.1) else f"User:{name}"
        yield patterned(dice, principal, read, topics, topic)
    for member, protocol in (
        (_CONSUMER_MEMBER, "SimulatedConsumerMember"),
        (_CLASSIC_MEMBER, "SimulatedClassicMember"),
    ):
        yield patterned(dice, f"User:{member}", read, groups, f"{protocol} group")
    yield patterned(dice, f"User:{_COPIER}", read, groups, copiers)
    yield patterned(dice, f"User:{_COPIER}", write, topics, copies)
    yield acl(
        f"User:{_COPIER}",
        write,
        ResourceType.TRANSACTIONAL_ID,
        "copier-",
        pattern=PatternType.PREFIXED,
    )
    yield patterned(dice, f"User:{_READER}", read, topics, copies)
    # The guest may read what begins like the topic, but not the topic itself.
    prefix = topic[:_PREFIX_LENGTH]
    yield acl(f"User:{GUEST}", read, topics, prefix, pattern=PatternType.PREFIXED)
    yield acl(f"User:{GUEST}", read, topics, topic, permission=Permission.DENY)
