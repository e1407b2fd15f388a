"""Tells the active controller in which log directories replicas are (KIP-858).

The controller has to know, for when a directory fails it elects other leaders for what was in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.client import ChannelError
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.runtime.clock import Clock
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectoryData,
    AssignReplicasToDirsRequestPartitionData,
    AssignReplicasToDirsRequestTopicData,
    AssignReplicasToDirsResponse,
)

_log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 0.1


async def assign_directories(
    cluster: ClusterView,
    controller: ActiveController,
    clock: Clock,
    replicas: Mapping[Uuid, Iterable[tuple[Uuid, int]]],
) -> None:
    """`replicas` are by the directory's id: a topic's id and a partition each. Returns when the
    controller knows; tries for as long as it takes. What is gone by then it need not know."""
    directories = [
        AssignReplicasToDirsRequestDirectoryData(
            id=directory_id,
            topics=[
                AssignReplicasToDirsRequestTopicData(
                    topic_id=topic_id,
                    partitions=[
                        AssignReplicasToDirsRequestPartitionData(partition_index=partition)
                    ],
                )
                for topic_id, partition in of_directory
            ],
        )
        for directory_id, of_directory in replicas.items()
    ]
    while True:
        request = AssignReplicasToDirsRequest(
            broker_id=cluster.node_id,
            broker_epoch=cluster.broker_epoch(),
            directories=directories,
        )
        try:
            response: AssignReplicasToDirsResponse = await controller.send(request)
        except (ChannelError, KafkaError) as error:
            _log.debug("AssignReplicasToDirs failed: %s", error)
        else:
            # The other is that of a cluster that knows no directories yet.
            if response.error_code in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION):
                return
            _log.info("AssignReplicasToDirs failed: error %d", response.error_code)
        await clock.sleep(_RETRY_SECONDS)
