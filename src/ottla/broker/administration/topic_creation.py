"""Topics that are made because somebody asked about them (`auto.create.topics.enable`)."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.client import versions
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest

# Both leave the number to the configs of the cluster.
_DEFAULT_COUNT = -1


async def auto_create_topics(
    controller: ActiveController, replicas: LocalReplicas, names: Sequence[str]
) -> dict[str, ErrorCode]:
    """Returns when these topics can be used, with an error for each that was not made.

    Somebody else may have made one meanwhile, which is as good.
    """
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=name, num_partitions=_DEFAULT_COUNT, replication_factor=_DEFAULT_COUNT
            )
            for name in names
        ]
    )
    try:
        response = await controller.ask(request, versions.CREATE_TOPICS)
    except KafkaError as error:
        return dict.fromkeys(names, error.code)
    await replicas.wait_applied()
    return {
        result.name: ErrorCode(result.error_code)
        for result in response.topics
        if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
    }
