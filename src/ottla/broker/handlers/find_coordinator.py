"""FindCoordinator, versions 0 to 6: who coordinates a group, a transactional id, a share partition.

Nobody does yet, so every key gets COORDINATOR_NOT_AVAILABLE, which clients take for a reason to ask
again. INVALID_REQUEST is for types of key that the version does not have. From version 4 on there
are many keys in a request and each has its own answer.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey
from ottla.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)


class CoordinatorType(IntEnum):
    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_BATCHED_VERSION: Final = 4
_SHARE_VERSION: Final = 6
_NO_NODE: Final = -1

_WHAT: Final = {
    CoordinatorType.GROUP: "consumer groups; assign partitions to consumers by hand instead",
    CoordinatorType.TRANSACTION: "transactions; use an idempotent producer without a "
    "transactional id instead",
    CoordinatorType.SHARE: "share groups",
}


@handles(ApiKey.FIND_COORDINATOR)
def find_coordinator(
    broker: Broker,  # noqa: ARG001 - every handler's signature
    context: RequestContext,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse:
    error, message = _refusal(request.key_type, context.api_version)
    if context.api_version < _BATCHED_VERSION:
        return FindCoordinatorResponse(
            error_code=error, error_message=message, node_id=_NO_NODE, port=_NO_NODE
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key, node_id=_NO_NODE, port=_NO_NODE, error_code=error, error_message=message
            )
            for key in request.coordinator_keys
        ]
    )


def _refusal(key_type: int, version: int) -> tuple[ErrorCode, str]:
    is_known = key_type in CoordinatorType.__members__.values()
    if not is_known or (key_type == CoordinatorType.SHARE and version < _SHARE_VERSION):
        return ErrorCode.INVALID_REQUEST, f"version {version} has no keys of type {key_type}"
    what = _WHAT[CoordinatorType(key_type)]
    return ErrorCode.COORDINATOR_NOT_AVAILABLE, f"this cluster has no coordinators yet for {what}"
