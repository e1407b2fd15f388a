"""What it costs a produce or fetch request to check a partition's topic among a thousand ACLs.

No server is needed: the measured code is what handlers call. A connection's decisions are cached,
so the first check of a name is measured apart from the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from benchmarks.figure import Figure
from benchmarks.versus.comparison import Bound
from ottla.model import Uuid
from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal

_ACLS: Final = 1_000
_ROUNDS: Final = 5
_CHECKED: Final = 20_000
# As many as the cache of a connection keeps.
_CACHED: Final = 2_000
_HOST: Final = "127.0.0.1"
_BOUND: Final = Bound(value_max=2.0)
_ALICE: Final = Principal("User", "alice")


def figures() -> Iterator[Figure]:
    authorizer = _authorizer()
    names = [f"team-{number % 100}-orders-{number}" for number in range(_CHECKED)]
    yield _figure(
        "authorization of a partition, first check, 1,000 ACLs",
        lambda: _check(Rights(authorizer, _ALICE, _HOST), names),
        _CHECKED,
    )
    known = Rights(authorizer, _ALICE, _HOST)
    few = names[:_CACHED]
    _check(known, few)
    yield _figure(
        "authorization of a partition, later checks, 1,000 ACLs",
        lambda: _check(known, few),
        _CACHED,
    )


def _check(rights: Rights, names: list[str]) -> None:
    for name in names:
        assert rights.allows(AclOperation.WRITE, ResourceType.TOPIC, name)


def _figure(name: str, check: Callable[[], None], count: int) -> Figure:
    rounds = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        check()
        rounds.append((time.perf_counter() - started) / count * 1e6)
    value = median(rounds)
    return Figure(name, value, "us", bound=_BOUND.text("us"), holds=_BOUND.holds(value, None))


def _authorizer() -> StandardAuthorizer:
    """Half of the ACLs are for prefixes of several lengths, one of which allows each name; the
    others are for names and principals that are not checked, and some deny."""
    authorizer = StandardAuthorizer()
    for number in range(_ACLS // 2):
        prefix = f"team-{number}-" if number < 100 else f"{'unit-' * (number % 8 + 1)}{number}-"
        _add(authorizer, number, prefix, PatternType.PREFIXED, "User:alice", Permission.ALLOW)
    for number in range(_ACLS // 2, _ACLS):
        permission = Permission.DENY if number % 3 == 0 else Permission.ALLOW
        name, user = f"topic-{number}", f"User:user-{number % 50}"
        _add(authorizer, number, name, PatternType.LITERAL, user, permission)
    assert len(authorizer) == _ACLS
    return authorizer


def _add(
    authorizer: StandardAuthorizer,
    number: int,
    name: str,
    pattern: PatternType,
    user: str,
    permission: Permission,
) -> None:
    binding = AclBinding(
        ResourcePattern(ResourceType.TOPIC, name, pattern),
        AccessControlEntry(user, "*", AclOperation.WRITE, permission),
    )
    authorizer.add(binding.to_record(Uuid(number.to_bytes(16, "big"))))
