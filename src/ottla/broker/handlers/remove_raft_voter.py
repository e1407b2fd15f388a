"""RemoveRaftVoter, version 0: removes a voter from the metadata quorum (KIP-853).

Forwarded to the quorum leader; the errors are those of raft/voter_changes.py, and
REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse


@handles(ApiKey.REMOVE_RAFT_VOTER, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def remove_raft_voter(
    context: RequestContext, request: RemoveRaftVoterRequest, *, controller: ActiveController
) -> Awaitable[RemoveRaftVoterResponse]:
    return forward(controller, request, context.api_version, context.rights)
