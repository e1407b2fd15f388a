"""How each share group delivers records, by its configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.configs.group_config import effective_group_number, effective_group_value
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.configs.value import ConfigValues
from ottla.metadata import MetadataImage
from ottla.replication.partition import Isolation
from ottla.shares.delivery_settings import DeliverySettings

_COMMITTED: Final = "read_committed"
_BACKOFF: Final = 2.0
_GROUPS_MAX: Final = 10_000


class DeadLetterTopic(NamedTuple):
    """The name is empty if the group has none."""

    name: str = ""
    # Whether keys and values are copied.
    copies: bool = False


class GroupDelivery(NamedTuple):
    settings: DeliverySettings
    isolation: Isolation
    # earliest, latest or by_duration:PnDTnHnMn.nS
    offset_reset: str
    dead_letters: DeadLetterTopic


class GroupDeliveries:
    """Remembers the result for each group until the cluster's configs change."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._image: MetadataImage | None = None
        self._values: ConfigValues | None = None
        self._known: dict[str, GroupDelivery] = {}

    def of(self, group_id: str) -> GroupDelivery:
        image, values = self._cluster.image, self._cluster.config.values
        if image is not self._image or values is not self._values:
            self._image, self._values = image, values
            self._known.clear()
        found = self._known.get(group_id)
        if found is None:
            if len(self._known) >= _GROUPS_MAX:
                self._known.clear()
            own = image.configs_of(ConfigResource(ConfigResourceType.GROUP, group_id))
            found = self._known[group_id] = _delivery(own, values)
        return found


def _delivery(own: Mapping[str, str], broker: ConfigValues) -> GroupDelivery:
    def number(name: str) -> int:
        return effective_group_number(name, own, broker)

    delay_ms = number("ottla.share.retry.delay.ms")
    isolation = effective_group_value("share.isolation.level", own, broker)
    return GroupDelivery(
        DeliverySettings(
            lock_ms=number("share.record.lock.duration.ms"),
            delivery_limit=number("share.delivery.count.limit"),
            locks_max=number("share.partition.max.record.locks"),
            may_renew=bool(effective_group_value("share.renew.acknowledge.enable", own, broker)),
            retry_delay_ms=delay_ms,
            retry_backoff=_BACKOFF,
            retry_delay_max_ms=max(delay_ms, number("ottla.share.retry.delay.max.ms")),
            orders_keys=bool(effective_group_value("ottla.share.key.order", own, broker)),
            is_fair=bool(effective_group_value("ottla.share.fair", own, broker)),
        ),
        Isolation.READ_COMMITTED if isolation == _COMMITTED else Isolation.READ_UNCOMMITTED,
        str(effective_group_value("share.auto.offset.reset", own, broker)),
        DeadLetterTopic(
            str(effective_group_value("errors.deadletterqueue.topic.name", own, broker)),
            bool(effective_group_value("errors.deadletterqueue.copy.record.enable", own, broker)),
        ),
    )
