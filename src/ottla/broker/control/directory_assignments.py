"""Reports to the active controller which log directory each replica is in (KIP-858).

The controller uses it when a log directory fails: it elects new leaders for the partitions in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.channels import ChannelError
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
    """`replicas` maps directory ids to topic ids and partition indexes. Retries until the
    controller accepts the request. Ignores errors of single partitions, which may be deleted."""
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
            # UNSUPPORTED_VERSION: the cluster's metadata.version predates directory assignment.
            if response.error_code in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION):
                return
            _log.info("AssignReplicasToDirs failed: error %d", response.error_code)
        await clock.sleep(_RETRY_SECONDS)
