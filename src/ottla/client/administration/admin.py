"""`Admin`: administers a cluster, of Ottla or of Apache Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self, Unpack

from ottla.client.administration.acls import AclOperations
from ottla.client.administration.cluster import ClusterOperations
from ottla.client.administration.deleted_topics import DeletedTopicOperations
from ottla.client.administration.group_offsets import GroupOffsetOperations
from ottla.client.administration.groups import GroupOperations
from ottla.client.administration.log_dirs import LogDirOperations
from ottla.client.administration.offsets import OffsetOperations
from ottla.client.administration.placement import PlacementOperations
from ottla.client.administration.quorum import QuorumOperations
from ottla.client.administration.quotas import QuotaOperations
from ottla.client.administration.settings import ADMIN_PROPERTIES, AdminProperties
from ottla.client.administration.share_groups import ShareGroupOperations
from ottla.client.administration.tokens import TokenOperations
from ottla.client.administration.transactions import TransactionOperations
from ottla.client.administration.users import UserOperations
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.settings.common import cluster_settings
from ottla.client.settings.parsing import parse_properties

_MS: Final = 1_000


class Admin(
    DeletedTopicOperations,
    OffsetOperations,
    GroupOperations,
    GroupOffsetOperations,
    ShareGroupOperations,
    TransactionOperations,
    ClusterOperations,
    QuorumOperations,
    PlacementOperations,
    LogDirOperations,
    UserOperations,
    AclOperations,
    TokenOperations,
    QuotaOperations,
):
    """Use it within `async with`; it belongs to one event loop, and connects when it is used.

        async with Admin(bootstrap_servers="127.0.0.1:9092") as admin:
            await admin.create_topic("orders", partitions=6)

    Properties have Kafka's names, with `_` for `.` as keywords. Each method waits at most `timeout`
    seconds, by default those of `default.api.timeout.ms`, retries what a moment may cure, and
    raises ClientError: TimedOutError, ConnectionFailedError, or an error with Kafka's name. Methods
    for many items return `Results`.
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[AdminProperties],
    ) -> None:
        parsed = parse_properties(
            ADMIN_PROPERTIES, properties, keywords, dice=None if seams is None else seams.dice
        )
        cluster = ClientCluster(cluster_settings(parsed.values, parsed.security), seams)
        super().__init__(cluster, timeout=parsed.values["default.api.timeout.ms"] / _MS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
