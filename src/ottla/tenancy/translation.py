"""Translates the names of a tenant: `orders` for its clients is `acme.orders` in the cluster.

Empty names stay, because they name nothing. Patterns become patterns for the names with the prefix;
anchors for the beginning are left out, because patterns match whole names anyway.

Topic ids of other tenants are replaced with ids that no topic has, and back in the response, so
that the client gets the error for an unknown topic under the id that it sent.

The bytes of group members are left alone here: member_bytes.py translates them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ottla.model import ZERO_UUID, Buffer, Uuid
from ottla.wire.errors import ProtocolError
from ottla.wire.schema.renaming import NotVisibleError

_USER: Final = "User:"
_ANY: Final = "*"
_TOPIC, _GROUP = 2, 32
_ACL_TOPIC, _ACL_GROUP, _ACL_TRANSACTIONAL_ID = 2, 3, 5
_COORDINATOR_KINDS: Final = (0, 1)
# The parts of a pattern that decide where its groups end: quoted text, escapes, classes of
# characters, parentheses, and anchors for the beginning.
_PARTS: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()^]", re.DOTALL)
# It has a closing parenthesis without an opening one.
_INVALID_PATTERN: Final = ")"


class TopicIds:
    """Hides the topic ids of others. Of one connection's tenant."""

    def __init__(self, name_of: Callable[[Uuid], str | None], prefix: str, mask: bytes) -> None:
        """`name_of` is the name of a topic in the cluster; `mask` is a secret of the node."""
        self._name_of = name_of
        self._prefix = prefix
        self._mask = int.from_bytes(mask)

    def inward(self, topic_id: Uuid) -> Uuid:
        return self._masked(topic_id) if self._is_foreign(topic_id) else topic_id

    def outward(self, topic_id: Uuid) -> Uuid:
        if topic_id == ZERO_UUID or self._name_of(topic_id) is not None:
            # A topic of another tenant is not in a response; if it were, its id would be useless.
            return self.inward(topic_id)
        original = self._masked(topic_id)
        return original if self._is_foreign(original) else topic_id

    def _is_foreign(self, topic_id: Uuid) -> bool:
        name = self._name_of(topic_id)
        return name is not None and not name.startswith(self._prefix)

    def _masked(self, topic_id: Uuid) -> Uuid:
        return Uuid((int.from_bytes(topic_id) ^ self._mask).to_bytes(len(topic_id)))


class InwardNames:
    """From a tenant's client to the cluster."""

    def __init__(self, prefix: str, topic_ids: TopicIds) -> None:
        self._prefix = prefix
        self.topic_id = topic_ids.inward

    def topic(self, name: str) -> str:
        return self._prefix + name if name else name

    group = transactional_id = user = topic

    def topic_pattern(self, pattern: str) -> str:
        if not pattern:
            return pattern
        if not _is_closed(pattern):
            return _INVALID_PATTERN
        return f"{re.escape(self._prefix)}(?:{_without_anchors(pattern)})"

    transactional_id_pattern = topic_pattern

    def principal(self, text: str) -> str:
        kind, colon, name = text.partition(":")
        return f"{kind}:{self._prefix}{name}" if colon and name != _ANY else text

    def config_resource(self, name: str, kind: int | None) -> str:
        return self.topic(name) if kind in (_TOPIC, _GROUP) else name

    def acl_resource(self, name: str, kind: int | None) -> str:
        is_named = kind in (_ACL_TOPIC, _ACL_GROUP, _ACL_TRANSACTIONAL_ID)
        return self.topic(name) if is_named else name

    def coordinator_key(self, name: str, kind: int | None) -> str:
        if kind not in _COORDINATOR_KINDS:
            raise ProtocolError(f"a tenant's client may not find coordinators of type {kind}")
        return self.topic(name)

    def quota_entity(self, name: str, kind: str | None) -> str:
        return self.topic(name) if kind == "user" else name

    def message(self, text: str) -> str:
        return text

    def subscription(self, data: Buffer) -> Buffer:
        return data

    assignment = subscription


def _without_anchors(pattern: str) -> str:
    """Without each ^ that is neither escaped nor in a class of characters. Clients put their
    patterns together, so it may be in a group or an alternative."""
    return _PARTS.sub(lambda found: "" if found[0] == "^" else found[0], pattern)


def _is_closed(pattern: str) -> bool:
    """Whether the pattern cannot end the group that it is put in: it would match any names then."""
    depth = 0
    for part in _PARTS.findall(pattern):
        depth += (part == "(") - (part == ")")
        if depth < 0:
            return False
    return True


class OutwardNames:
    """From the cluster to a tenant's client. Raises NotVisibleError for names of others."""

    def __init__(self, prefix: str, topic_ids: TopicIds) -> None:
        self._prefix = prefix
        self._pattern_prefix = f"{re.escape(prefix)}(?:"
        self.topic_id = topic_ids.outward

    def topic(self, name: str) -> str:
        if not name:
            return name
        if not name.startswith(self._prefix):
            raise NotVisibleError
        return name[len(self._prefix) :]

    group = transactional_id = user = topic

    def topic_pattern(self, pattern: str) -> str:
        if not pattern:
            return pattern
        if not (pattern.startswith(self._pattern_prefix) and pattern.endswith(")")):
            raise NotVisibleError
        return pattern[len(self._pattern_prefix) : -1]

    transactional_id_pattern = topic_pattern

    def principal(self, text: str) -> str:
        kind, _, name = text.partition(":")
        return text if name == _ANY else f"{kind}:{self.topic(name)}"

    def config_resource(self, name: str, kind: int | None) -> str:
        return self.topic(name) if kind in (_TOPIC, _GROUP) else name

    def acl_resource(self, name: str, kind: int | None) -> str:
        is_named = kind in (_ACL_TOPIC, _ACL_GROUP, _ACL_TRANSACTIONAL_ID)
        return self.topic(name) if is_named else name

    def coordinator_key(self, name: str, kind: int | None) -> str:  # noqa: ARG002 - has no kind
        return self.topic(name)

    def quota_entity(self, name: str, kind: str | None) -> str:
        return self.topic(name) if kind == "user" else name

    def message(self, text: str) -> str:
        return text.replace(self._prefix, "")

    def subscription(self, data: Buffer) -> Buffer:
        return data

    assignment = subscription
