"""A member of a classic group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.wire.messages.join_group import JoinGroupRequestProtocol


@dataclass(slots=True)
class ClassicMember:
    """Owned by its group. Waits for the group's next generation while `awaiting_join` is set, and
    for its assignment while `awaiting_sync` is."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    # By name, the most wanted one first, with what the assignor needs to know of the member.
    protocols: dict[str, bytes]
    assignment: bytes = b""
    awaiting_join: Reply | None = field(default=None, compare=False)
    awaiting_sync: Reply | None = field(default=None, compare=False)
    # Has never been told of a generation, and does not send heartbeats before that.
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def is_busy(self) -> bool:
        """Whether it cannot be expected to send heartbeats, for it waits for an answer."""
        if self.is_new:
            # A client may be gone without a word while its first join waits, so that has an end.
            return False
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def vote(self, candidates: Sequence[str]) -> str:
        """The protocol that it would rather have than the other candidates."""
        return next(name for name in self.protocols if name in candidates)

    def metadata_for(self, protocol: str) -> bytes:
        return self.protocols.get(protocol, b"")


def protocols_of(protocols: Sequence[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    return {protocol.name: protocol.metadata for protocol in protocols}
