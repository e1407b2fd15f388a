"""The quotas of changes of topics (KIP-599): the controller counts the partitions that clients
create and delete.

Since these versions, a request of a client without tokens is refused with
THROTTLING_QUOTA_EXCEEDED; older ones are carried out, and the client is throttled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from ottla.configs import NodeConfig
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.metadata import MetadataDelta
from ottla.model import ErrorCode, KafkaError
from ottla.quotas.entities import QuotaKey
from ottla.quotas.meters import BucketMeter, Meters
from ottla.quotas.sampled_rate import Windows
from ottla.runtime.clock import Clock
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.apis import ApiKey

_STRICT_SINCE: Final[Mapping[int, int]] = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.CREATE_PARTITIONS: 3,
}


class MutationQuota(Protocol):
    """Of one request."""

    def take(self, partitions: int) -> None:
        """Counts partitions that are created or deleted. Raises THROTTLING_QUOTA_EXCEEDED."""

    def throttle_ms(self) -> int:
        """How long the client is throttled, from now."""


class _Unlimited:
    def take(self, partitions: int) -> None: ...

    def throttle_ms(self) -> int:
        return 0


UNLIMITED: Final[MutationQuota] = _Unlimited()


class _Limited:
    def __init__(self, meter: BucketMeter, clock: Clock, *, is_strict: bool) -> None:
        self._meter = meter
        self._clock = clock
        self._is_strict = is_strict
        self._throttle_ms = self._recorded_ms = 0

    def take(self, partitions: int) -> None:
        now_ms, meter = _now_ms(self._clock), self._meter
        if self._is_strict:
            self._note(meter.throttle_ms(now_ms), now_ms)
            if self._throttle_ms:
                raise KafkaError(
                    ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                    "The throttling quota has been exceeded.",
                )
            meter.record(partitions, now_ms)
        else:
            meter.record(partitions, now_ms)
            self._note(meter.throttle_ms(now_ms), now_ms)

    def throttle_ms(self) -> int:
        return max(0, self._throttle_ms - (_now_ms(self._clock) - self._recorded_ms))

    def _note(self, throttle_ms: int, now_ms: int) -> None:
        if throttle_ms:
            self._meter.throttled_ms += throttle_ms
            self._throttle_ms, self._recorded_ms = throttle_ms, now_ms


class MutationQuotas:
    """Follows the committed metadata. Owned by the node's loop."""

    def __init__(self, metadata: CommittedMetadata, clock: Clock, node: NodeConfig) -> None:
        windows = Windows(
            count=node.controller_quota_window_num,
            size_seconds=node.controller_quota_window_size_seconds,
        )
        self.meters = Meters(QuotaKey.MUTATION, lambda: BucketMeter(windows))
        self._metadata = metadata
        self._clock = clock
        self.meters.follow(metadata.image.client_quotas)
        metadata.listen(self._metadata_changed)

    def of_request(
        self, key: int, version: int | None, rights: Rights, client_id: str
    ) -> MutationQuota:
        """`version` is None for requests of this node, which have no quota."""
        if not self.meters.has_limits or version is None or rights is UNRESTRICTED:
            return UNLIMITED
        strict_since = _STRICT_SINCE.get(key)
        if strict_since is None:
            return UNLIMITED
        meter = self.meters.find(rights.principal.name, client_id, _now_ms(self._clock))
        if meter is None:
            return UNLIMITED
        return _Limited(meter, self._clock, is_strict=version >= strict_since)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.client_quotas_changed:
            self.meters.follow(self._metadata.image.client_quotas)


def _now_ms(clock: Clock) -> int:
    return int(clock.monotonic() * 1_000)
