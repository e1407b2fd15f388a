"""Changes of ACLs, credentials and tokens while clients use them, in a secured cluster.

Each change is reverted after SECONDS, if the cluster answers. The administrator is a super user, or
one whose right to change anything is an ACL that another fault may have taken away.
"""

from __future__ import annotations

from typing import Final

from ottla.security.acls.acl import (
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourceType,
)
from ottla.simulation.clients.logins import GUEST, User
from ottla.simulation.clients.security_admin import SimulatedSecurityAdmin
from ottla.simulation.cluster.cluster_security import (
    CLIENT_USERS,
    EVERYONE,
    OPERATOR,
    ROOT,
    SimulatedSecurity,
    acl,
    patterned,
)
from ottla.simulation.faults.trouble import Trouble
from ottla.simulation.history.security_events import acl_key
from ottla.simulation.world.node import SimulatedNode

_OPERATIONS: Final = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DESCRIBE,
    AclOperation.ALL,
)
_TOKEN_LOGINS: Final = 3
_ELECTION_SECONDS_MAX: Final = 5.0
_RENEWAL_MS: Final = 12 * 3_600_000
_DELETION_PROBABILITY: Final = 0.3


async def change_acls(trouble: Trouble) -> None:
    """Revokes a right, denies one, or allows one, and reverts that after SECONDS."""
    security = trouble.cluster.security
    if security is None:
        return
    admin = _administrator(trouble, security)
    match trouble.dice.choice(("revoke", "revoke", "deny", "deny", "allow")):
        case "revoke":
            entry = trouble.dice.choice(security.intended)
            await _delete(trouble, admin, entry)
            await trouble.wait()
            await _create(trouble, admin, entry)
        case kind:
            entry = _denial(trouble) if kind == "deny" else _permission(trouble)
            if entry not in security.intended:
                await _create(trouble, admin, entry)
                await trouble.wait()
                await _delete(trouble, admin, entry)


async def change_credential(trouble: Trouble) -> None:
    """Changes the password of a user. May delete the credential for SECONDS before."""
    security = trouble.cluster.security
    if security is None:
        return
    users = [security.logins.users[name] for name in (*CLIENT_USERS, OPERATOR)]
    user = trouble.dice.choice([user for user in users if user.scram is not None] or users)
    if user.scram is None or user.is_changing:
        return
    admin = _administrator(trouble, security)
    user.is_changing = True
    try:
        if trouble.dice.chance(_DELETION_PROBABILITY):
            error = await admin.delete_credential(user.name, user.scram)
            trouble.note(f"deletes the credential of {user.name}: error {error}")
            await trouble.wait()
        error = await set_password(security, admin, user)
        trouble.note(f"changes the password of {user.name}: error {error}")
    finally:
        user.is_changing = False


async def change_token(trouble: Trouble) -> None:
    """A user creates a token, uses it for SECONDS, renews and removes it."""
    security = trouble.cluster.security
    if security is None:
        return
    user = security.logins.users[trouble.dice.choice(CLIENT_USERS)]
    if user.is_changing or user.token is not None:
        return
    user.is_changing = True
    try:
        owner = security.admin(user.name, trouble.cluster.bootstrap, name=f"{user.name} tokens")
        token = await owner.create_token()
        trouble.note(f"{user.name} gets {'no token' if token is None else f'token {token.id}'}")
        if token is None:
            return
        user.token = token
        for _ in range(_TOKEN_LOGINS):
            await security.log_in_with_token(user.name, trouble.cluster.bootstrap)
        await trouble.wait()
        await owner.renew_token(token, period_ms=_RENEWAL_MS)
        await trouble.wait()
        security.logins.give_up_token(user)
        error = await owner.remove_token(token)
        trouble.note(f"{user.name} removes token {token.id}: error {error}")
    finally:
        security.logins.give_up_token(user)
        user.is_changing = False


async def ask_deposed(trouble: Trouble) -> None:
    """Separates the active controller from the other nodes. When they have a new one, that creates
    an ACL, and the old one, which may not know of it, is asked to delete the ACL."""
    cluster, security = trouble.cluster, trouble.cluster.security
    deposed = cluster.active_controller
    if security is None or deposed is None:
        return
    others = [node for node in cluster.nodes if node is not deposed]
    cluster.partition((deposed.id,), tuple(node.id for node in others))
    try:
        await trouble.world.wait_until(
            lambda: any(_is_controller(trouble, node) for node in others),
            seconds=_ELECTION_SECONDS_MAX,
        )
    except TimeoutError:
        pass
    else:
        entry = _permission(trouble)
        new = next(node for node in others if _is_controller(trouble, node))
        admins = [
            security.admin(ROOT, [node.address], name=f"{node.name} {trouble.dice.seed}")
            for node in (new, deposed)
        ]
        await _create(trouble, admins[0], entry)
        await _delete(trouble, admins[1], entry)
    cluster.heal_network()


def _is_controller(trouble: Trouble, node: SimulatedNode) -> bool:
    broker = trouble.cluster.observer(node).broker
    return node.is_serving and broker is not None and broker.service.controller.is_active


async def set_password(
    security: SimulatedSecurity, admin: SimulatedSecurityAdmin, user: User
) -> int | None:
    """Until the change is acknowledged, clients use the old passwords and the new one."""
    assert user.scram is not None
    password = user.add_password()
    record = security.logins.make_credential(user, password)
    error = await admin.set_credential(user.name, user.scram, password, salt=record.salt)
    if error == 0:
        security.logins.keep_only(user, password)
    return error


def _administrator(trouble: Trouble, security: SimulatedSecurity) -> SimulatedSecurityAdmin:
    user = trouble.dice.choice((ROOT, OPERATOR))
    return security.admin(user, trouble.cluster.bootstrap, name=f"{user} {trouble.dice.seed}")


def _denial(trouble: Trouble) -> AclBinding:
    """Of everyone or of one user; of one resource, of its prefix, or of all of a type."""
    dice = trouble.dice
    users = [f"User:{name}" for name in (*CLIENT_USERS, OPERATOR)]
    principal = dice.choice((EVERYONE, *users, *users))
    kind, name = dice.choice(
        (
            (ResourceType.TOPIC, trouble.topic),
            (ResourceType.TOPIC, trouble.topic),
            (ResourceType.GROUP, "copiers"),
            (ResourceType.GROUP, "Simulated"),
            (ResourceType.TRANSACTIONAL_ID, "copier-"),
            (ResourceType.CLUSTER, "kafka-cluster"),
        )
    )
    pattern = dice.choice((PatternType.LITERAL, PatternType.PREFIXED))
    if kind is ResourceType.CLUSTER:
        pattern = PatternType.LITERAL
    elif dice.chance(0.2):
        pattern, name = PatternType.LITERAL, "*"
    operation = dice.choice(_OPERATIONS)
    return acl(principal, operation, kind, name, pattern=pattern, permission=Permission.DENY)


def _permission(trouble: Trouble) -> AclBinding:
    """For the guest, of something harmless."""
    kinds = (
        (AclOperation.READ, ResourceType.TOPIC, trouble.topic),
        (AclOperation.DESCRIBE, ResourceType.TOPIC, trouble.topic),
        (AclOperation.DESCRIBE, ResourceType.GROUP, "copiers"),
        (AclOperation.CREATE, ResourceType.TOPIC, "guest-1"),
        # A user who may write to at least one topic gets a producer id.
        (AclOperation.WRITE, ResourceType.TOPIC, "guest-1"),
    )
    operation, kind, name = trouble.dice.choice(kinds)
    if operation in (AclOperation.READ, AclOperation.WRITE):
        return acl(f"User:{GUEST}", operation, kind, name)
    return patterned(trouble.dice, f"User:{GUEST}", operation, kind, name)


async def _create(trouble: Trouble, admin: SimulatedSecurityAdmin, entry: AclBinding) -> None:
    error = await admin.create_acls([entry])
    trouble.note(f"creates {acl_key(entry)}: error {error}")


async def _delete(trouble: Trouble, admin: SimulatedSecurityAdmin, entry: AclBinding) -> None:
    error = await admin.delete_acls([entry])
    trouble.note(f"deletes {acl_key(entry)}: error {error}")
