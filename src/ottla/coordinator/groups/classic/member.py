"""A member of a classic group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.wire.messages.join_group import JoinGroupRequestProtocol


@dataclass(slots=True)
class ClassicMember:
    """Owned by its group. `awaiting_join` is set while its JoinGroup waits for the next generation,
    `awaiting_sync` while its SyncGroup waits for the assignment."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    # The member's metadata by protocol name, the preferred protocol first.
    protocols: dict[str, bytes]
    assignment: bytes = b""
    awaiting_join: Reply | None = field(default=None, compare=False)
    awaiting_sync: Reply | None = field(default=None, compare=False)
    # Has not received its first JoinGroup response yet, and so sends no heartbeats.
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def is_busy(self) -> bool:
        """Whether it sends no heartbeats because it waits for a response."""
        if self.is_new:
            # A client may disappear while its first join waits, so that wait has a timeout.
            return False
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def vote(self, candidates: Sequence[str]) -> str:
        """The candidate that this member prefers."""
        return next(name for name in self.protocols if name in candidates)

    def metadata_for(self, protocol: str) -> bytes:
        return self.protocols.get(protocol, b"")


def protocols_of(protocols: Sequence[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    return {protocol.name: protocol.metadata for protocol in protocols}
