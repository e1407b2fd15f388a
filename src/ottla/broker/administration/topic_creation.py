"""Automatic creation of topics that a client requests (`auto.create.topics.enable`)."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.channels import versions
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.rights import Rights
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest

# Uses the cluster's `num.partitions` and `default.replication.factor`.
_DEFAULT_COUNT = -1


async def auto_create_topics(
    changes: MetadataChanges, names: Sequence[str], rights: Rights, client_id: str
) -> dict[str, ErrorCode]:
    """Creates topics with the rights and the quota of a client. Returns when they can be
    used, with an error for each that was not created.

    A topic that exists by now is not an error.
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
        response = await changes.request(
            request, versions.CREATE_TOPICS, rights, client_id=client_id, is_repeatable=True
        )
    except KafkaError as error:
        return dict.fromkeys(names, error.code)
    return {
        result.name: _of_metadata(ErrorCode(result.error_code))
        for result in response.topics
        if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
    }


def _of_metadata(error: ErrorCode) -> ErrorCode:
    """The error in a Metadata response: a client whose quota is used up asks again later."""
    if error is ErrorCode.THROTTLING_QUOTA_EXCEEDED:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return error
