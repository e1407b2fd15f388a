"""The indexed authorizer decides as Kafka's rules do when they are applied to every entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from ottla.model import Uuid
from ottla.security.acls.acl import AclBinding, AclOperation, PatternType, Permission, ResourceType
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal
from ottla.simulation.claims.naive_authorizer import is_allowed
from ottla.simulation.history.security_events import NeededRight
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord
from tests.support.controller.cluster_images import uuid
from tests.support.security.acls import acl

ALLOW, DENY = Permission.ALLOW, Permission.DENY
OPERATIONS: Final = [
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.CREATE,
    AclOperation.DESCRIBE,
    AclOperation.ALTER_CONFIGS,
    AclOperation.DESCRIBE_CONFIGS,
]
TYPES: Final = [ResourceType.TOPIC, ResourceType.GROUP]
USERS: Final = ["alice", "bob", "root"]
HOSTS: Final = ["10.0.0.1", "10.0.0.2"]
names = st.text("ab*", min_size=1, max_size=4)

bindings = st.builds(
    acl,
    st.sampled_from([*OPERATIONS, AclOperation.ALL]),
    st.sampled_from(TYPES),
    names,
    principal=st.sampled_from([*(f"User:{user}" for user in USERS), "User:*"]),
    host=st.sampled_from([*HOSTS, "*"]),
    permission=st.sampled_from([ALLOW, ALLOW, DENY]),
    pattern=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
)
# Ids are few, so that entries are replaced, and removed by not being in the next image.
images = st.lists(
    st.dictionaries(st.integers(0, 15).map(uuid), bindings, max_size=12), min_size=1, max_size=4
)


class Question:
    """May a principal at a host do something to a resource?"""

    def __init__(
        self, user: str, host: str, operation: AclOperation, kind: ResourceType, name: str
    ) -> None:
        self.principal, self.host = Principal("User", user), host
        self.operation, self.kind, self.name = operation, kind, name

    def __repr__(self) -> str:
        return (
            f"{self.principal} at {self.host}: {self.operation.name} {self.kind.name} {self.name}"
        )

    def concerns(self, binding: AclBinding) -> bool:
        entry = binding.entry
        return entry.principal in (str(self.principal), "User:*") and entry.host in (self.host, "*")


questions = st.builds(
    Question,
    st.sampled_from(USERS),
    st.sampled_from(HOSTS),
    st.sampled_from(OPERATIONS),
    st.sampled_from(TYPES),
    names,
)


def covers(binding: AclBinding, name: str) -> bool:
    pattern = binding.pattern
    if pattern.pattern_type is PatternType.PREFIXED:
        return name[: len(pattern.name)] == pattern.name
    return pattern.name == "*" or pattern.name == name


def permits(binding: AclBinding, operation: AclOperation) -> bool:
    held = binding.entry.operation.name
    if held in ("ALL", operation.name):
        return True
    if binding.entry.permission is DENY:
        return False
    if operation is AclOperation.DESCRIBE:
        return held in ("READ", "WRITE", "DELETE", "ALTER")
    return operation is AclOperation.DESCRIBE_CONFIGS and held == "ALTER_CONFIGS"


def naive(entries: Iterable[AclBinding], question: Question, *, by_default: bool) -> bool:
    if question.principal.name == "root":
        return True
    matching = [
        each
        for each in entries
        if each.pattern.resource_type is question.kind and covers(each, question.name)
    ]
    if not matching:
        return by_default
    applying = {
        each.entry.permission
        for each in matching
        if question.concerns(each) and permits(each, question.operation)
    }
    return applying == {ALLOW}


def naive_any(entries: Iterable[AclBinding], question: Question, *, by_default: bool) -> bool:
    """As Kafka's `authorizeByResourceType`, over the patterns of allowing entries."""
    of_name = Question(
        question.principal.name, question.host, question.operation, question.kind, "hardcode"
    )
    if naive(entries, of_name, by_default=by_default):
        return True
    own = [
        each
        for each in entries
        if each.pattern.resource_type is question.kind
        and question.concerns(each)
        and each.entry.operation in (question.operation, AclOperation.ALL)
    ]
    allowed = {each.pattern for each in own if each.entry.permission is ALLOW}
    denied = {each.pattern for each in own if each.entry.permission is DENY}
    literal_star = {each for each in denied if each.name == "*" and each.pattern_type == 3}
    if literal_star:
        return False
    if any(each.name == "*" and each.pattern_type == 3 for each in allowed):
        return True
    return any(
        each not in denied
        and not any(
            other.pattern_type is PatternType.PREFIXED and each.name.startswith(other.name)
            for other in denied
        )
        for each in allowed
    )


def records_of(image: dict[Uuid, AclBinding]) -> dict[Uuid, AccessControlEntryRecord]:
    return {acl_id: binding.to_record(acl_id) for acl_id, binding in image.items()}


def _agrees_with_the_simulation(
    own: Rights, asked: Question, entries: Iterable[AclBinding]
) -> None:
    """The claims of the simulation have an evaluation of their own."""
    principal, host = str(asked.principal), asked.host
    need = NeededRight(asked.operation, asked.kind, asked.name)
    allowed = own.allows(asked.operation, asked.kind, asked.name)
    assert allowed is is_allowed(entries, principal, host, (need,)), asked
    allowed = own.allows_any(asked.operation, asked.kind)
    assert allowed is is_allowed(entries, principal, host, (need._replace(name=None),)), asked


@given(images, st.lists(questions, min_size=1, max_size=8), st.booleans())
def test_the_authorizer_decides_as_a_scan_of_all_entries(
    states: list[dict[Uuid, AclBinding]], asked: list[Question], by_default: bool
) -> None:
    authorizer = StandardAuthorizer(
        super_users=["User:root"], allows_everyone_if_no_acl_found=by_default
    )
    rights = {
        (user, host): Rights(authorizer, Principal("User", user), host)
        for user in USERS
        for host in HOSTS
    }
    for state in states:
        authorizer.follow(records_of(state))
        entries = list(state.values())
        # Twice: the second decisions come from the caches.
        for each in (*asked, *asked):
            own = rights[each.principal.name, each.host]
            allowed = own.allows(each.operation, each.kind, each.name)
            assert allowed is naive(entries, each, by_default=by_default), each
            allowed = own.allows_any(each.operation, each.kind)
            assert allowed is naive_any(entries, each, by_default=by_default), each
            if not by_default and each.principal.name != "root":
                _agrees_with_the_simulation(own, each, entries)
    authorizer.follow({})
    assert len(authorizer) == 0
    for index in authorizer._indexes.values():
        assert not any(vars(index).values()), "removed entries leave nothing behind"
