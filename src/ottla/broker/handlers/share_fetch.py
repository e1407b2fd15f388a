"""ShareFetch, versions 1 and 2: records for a member of a share group (KIP-932).

A request also acknowledges records of earlier responses. Version 2 adds the strict limit of records
(KIP-1206) and the renewal of locks (KIP-1222). Errors of the whole request:
GROUP_AUTHORIZATION_FAILED, INVALID_REQUEST, UNSUPPORTED_VERSION without the feature share.version,
SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, SHARE_SESSION_LIMIT_REACHED. Per partition:
TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER,
KAFKA_STORAGE_ERROR, LEADER_NOT_AVAILABLE, COORDINATOR_NOT_AVAILABLE; for its acknowledgements also
INVALID_RECORD_STATE and INVALID_REQUEST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.sharing.offered import check_offered
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.sharing.sharing import Sharing


@handles(
    ApiKey.SHARE_FETCH,
    rights=(
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
def share_fetch(
    context: RequestContext,
    request: ShareFetchRequest,
    *,
    cluster: ClusterView,
    clock: Clock,
    sharing: Sharing,
) -> Message | Pending:
    try:
        check_offered(cluster)
        if not request.group_id or not request.member_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the group and member ids must be set")
        context.rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
        _check_renewal(request)
        return sharing.fetches.fetch(context, request)
    except KafkaError as error:
        response = ShareFetchResponse(error_code=error.code, error_message=error.message)
        if error.code is not ErrorCode.SHARE_SESSION_LIMIT_REACHED:
            return response
        # As long as a fetch waits, so that the client does not try again at once.
        pending = Pending(on_abandoned=lambda: timer.cancel())
        timer = clock.call_later(request.max_wait_ms / 1_000, lambda: pending.resolve(response))
        return pending


def _check_renewal(request: ShareFetchRequest) -> None:
    """A request that renews locks must not fetch records: their locks could end while it waits."""
    if request.is_renew_ack and any(
        (request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)
    ):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "maxBytes, minBytes, maxRecords and maxWaitMs must be set to 0 if isRenewAck is true",
        )
