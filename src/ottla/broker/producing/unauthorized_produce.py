"""The parts of a Produce request that the client may not append.

They are taken out of the request before it is handled, and their errors are added to the response.
With acks=0 they close the connection, after the other parts are appended.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.broker.producing.produced_partition import TOPIC_ID_VERSION
from ottla.broker.producing.transactional_produce import claims_transaction
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.wire.schema import Message


def take_unauthorized(
    cluster: ClusterView, context: RequestContext, request: ProduceRequest
) -> list[TopicProduceResponse]:
    """Removes the unauthorized topics from the request and returns their errors. A transactional
    id without authorization refuses all of them."""
    refused, accepted = [], []
    rights = context.rights
    if _is_transaction_refused(rights, request):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        refused = [refused_topic(topic, error) for topic in request.topic_data]
    else:
        for topic in request.topic_data:
            name = name_of(cluster, context.api_version, topic)
            if name is None or rights.allows(AclOperation.WRITE, ResourceType.TOPIC, name):
                accepted.append(topic)
            else:
                refused.append(refused_topic(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    request.topic_data = accepted
    return refused


def add_refused(
    request: ProduceRequest, answer: Message | Pending | None, refused: list[TopicProduceResponse]
) -> Message | Pending:
    """The answer to the request with the errors of its unauthorized topics. Raises
    `ConnectionAbortedError` with acks=0."""
    if request.acks == 0:
        raise ConnectionAbortedError("an append with acks=0 is not authorized")
    if not isinstance(answer, Pending):
        return _with_refused(answer, refused)
    waiting, whole = answer, Pending(on_abandoned=answer.abandon)

    def resolved() -> None:
        whole.resolve(_with_refused(waiting.response, refused))

    if waiting.response is None:
        waiting.when_resolved(resolved)
    else:
        resolved()
    return whole.answer


def _is_transaction_refused(rights: Rights, request: ProduceRequest) -> bool:
    is_transactional = any(
        data.records is not None and claims_transaction(data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    )
    if not is_transactional:
        return False
    transactional_id = request.transactional_id
    return transactional_id is None or not rights.allows(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
    )


def name_of(cluster: ClusterView, version: int, topic: TopicProduceData) -> str | None:
    """None for an unknown topic id, which is another error."""
    if version < TOPIC_ID_VERSION:
        return topic.name
    known = cluster.image.topics.by_id.get(topic.topic_id)
    return None if known is None else known.name


def _with_refused(response: Message | None, refused: list[TopicProduceResponse]) -> ProduceResponse:
    assert isinstance(response, ProduceResponse)
    response.responses += refused
    return response


def refused_topic(topic: TopicProduceData, error: ErrorCode) -> TopicProduceResponse:
    return TopicProduceResponse(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_responses=[
            PartitionProduceResponse(index=data.index, error_code=error, base_offset=-1)
            for data in topic.partition_data
        ],
    )
