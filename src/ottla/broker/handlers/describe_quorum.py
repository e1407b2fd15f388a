"""DescribeQuorum, versions 0 to 2: the metadata quorum's replicas and their offsets (KIP-595).

Forwarded to the quorum leader; its errors are in quorum_description.py.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse


@handles(ApiKey.DESCRIBE_QUORUM)
async def describe_quorum(
    context: RequestContext,
    request: DescribeQuorumRequest,
    *,
    controller: ActiveController,
) -> DescribeQuorumResponse:
    try:
        response: DescribeQuorumResponse = await controller.forward(request, context.api_version)
    except KafkaError as error:
        return DescribeQuorumResponse(error_code=error.code, error_message=error.message)
    return response
