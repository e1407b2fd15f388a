"""Sends requests to the active controller, in this process or on another node.

`forward` retries until its timeout when a request was not sent or reaches a controller that is no
longer active: at once when the quorum has a new leader, else after a short pause.

A request whose connection is lost may have been executed, and so may one whose controller is
deposed before the commit. Kafka's brokers send every such request again. Here, only a request that
can be repeated is sent again: executed twice, it changes nothing more and has the same response.
Others fail with REQUEST_TIMED_OUT, which says that the outcome is unknown. Sent again, a
CreateTopics that succeeded would be answered with TOPIC_ALREADY_EXISTS, and a DeleteTopics could
delete a topic that was created again in the meantime.

For the same reason, requests that cannot be repeated are left on their connection when another
node becomes the active controller, as in Kafka: the previous one may still respond. Requests that
can be repeated go to the new controller at once, since a host that lost power never responds.

Each lane has its own connection, because a node handles the requests of one connection in order,
and a heartbeat must not wait for the creation of a thousand topics.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from ottla.channels import ChannelError, ChannelSecurity, NotSentError, Peer, versions
from ottla.channels.peer import ReconnectBackoff
from ottla.controller.controller import OutcomeUnknownError
from ottla.controller.service import ControllerService
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks
from ottla.runtime.wakeup import Wakeup
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.security.client_host import encode_host
from ottla.security.principal import encode_principal
from ottla.wire.apis import ApiKey
from ottla.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message

_RETRY_MS: Final = 20
# The retry pause doubles after this many attempts.
_PATIENCE: Final = 5
_DOUBLINGS_MAX: Final = 2
_RETRY_JITTER: Final = 0.5
_BACKOFF: Final = ReconnectBackoff(first_ms=10, max_ms=50, connect_timeout_ms=1_000)
DEFAULT_TIMEOUT_MS: Final = 30_000


class ForwardingLane(Enum):
    HEARTBEATS = auto()
    REQUESTS = auto()
    # Requests of clients, and topics that this node creates for them.
    REPEATABLE = auto()
    UNREPEATABLE = auto()


_VERSIONS: Final = {
    ApiKey.BROKER_REGISTRATION: versions.BROKER_REGISTRATION,
    ApiKey.BROKER_HEARTBEAT: versions.BROKER_HEARTBEAT,
    ApiKey.ALTER_PARTITION: versions.ALTER_PARTITION,
    ApiKey.ALLOCATE_PRODUCER_IDS: versions.ALLOCATE_PRODUCER_IDS,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: versions.ASSIGN_REPLICAS_TO_DIRS,
    ApiKey.CONTROLLER_REGISTRATION: versions.CONTROLLER_REGISTRATION,
}
_ENVELOPE_ERRORS: Final = (
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
)
_REPEATABLE: Final = frozenset(
    {
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_QUORUM,
    }
)
# The requests of these lanes are sent again when the quorum has a new leader.
_MOVING: Final = (ForwardingLane.REQUESTS, ForwardingLane.REPEATABLE)
_RETRIED: Final = (ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_LEADER_OR_FOLLOWER)


_log = logging.getLogger(__name__)


def _nothing() -> None: ...


@dataclass(slots=True, eq=False)
class _Line:
    """The connection of a lane to one controller. A new controller gets a new one, so that its
    reconnect backoff starts at zero."""

    address: Address
    peer: Peer
    # The quorum's leader epoch when the connection was opened.
    epoch: int
    # Requests without a response. A line that was replaced closes after the last of them.
    pending: int = 0


class ActiveController:
    """Owned by the node's loop. `close` closes its connections."""

    def __init__(
        self,
        service: ControllerService,
        locate: Callable[[], Address | None],
        network: Network,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        security: ChannelSecurity,
        *,
        node_id: int,
        on_lost: Callable[[], None],
    ) -> None:
        """`locate` returns the address of an active controller on another node, None if it is
        unknown. `on_lost` is called when the heartbeat connection is lost."""
        self._service = service
        self._quorum = service.controller.quorum
        self._locate = locate
        self._network = network
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self.security = security
        self._node_id = node_id
        self._on_lost = on_lost
        self._lines: dict[ForwardingLane, _Line] = {}
        # Replaced lines with pending requests that cannot be repeated.
        self._replaced: set[_Line] = set()
        self._moved = Wakeup(clock)
        self._quorum.listen_leader(self._leader_changed)

    @property
    def is_here(self) -> bool:
        """Whether this node leads the quorum. Its controller may not be active yet."""
        return self._quorum.is_leader

    @property
    def has_failed(self) -> bool:
        """Whether this node's metadata has failed, so that the node must be restarted."""
        return self._quorum.failure is not None

    async def wait_moved(self, *, attempts: int = 1) -> None:
        """Returns when the quorum's leader may have changed, or after a retry pause that grows with
        `attempts`."""
        retry_ms = _RETRY_MS << min(attempts // _PATIENCE, _DOUBLINGS_MAX)
        pause_ms = self._dice.jitter(retry_ms, fraction=_RETRY_JITTER)
        await self._moved.wait(pause_ms / 1_000)

    async def forward(
        self,
        request: Message,
        version: int,
        *,
        rights: Rights,
        client_id: str = "",
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        is_repeatable: bool = False,
    ) -> Any:
        """Forwards a client's request with its rights and its client id, which quotas are for, and
        returns the response. `UNRESTRICTED` is
        for requests of this node. Uses the client's version, because another version may lack some
        fields. `is_repeatable`: the caller accepts the response to a repeated request, whatever the
        API.

        Raises `KafkaError`: REQUEST_TIMED_OUT if no controller responds in time, or if the request
        cannot be repeated and may have been executed; KAFKA_STORAGE_ERROR if this node's metadata
        has failed; UNKNOWN_SERVER_ERROR if this node may not forward requests."""
        is_repeatable |= request.api_key in _REPEATABLE
        deadline = self._clock.monotonic() + timeout_ms / 1_000
        while True:
            left_ms = int((deadline - self._clock.monotonic()) * 1_000)
            if left_ms <= 0:
                raise KafkaError(
                    ErrorCode.REQUEST_TIMED_OUT,
                    "no active controller answered in time; check that a majority of the "
                    "controllers is running",
                )
            try:
                return await self._forward_once(
                    request, version, rights, client_id, left_ms, is_repeatable=is_repeatable
                )
            except NotSentError:
                pass
            except (ChannelError, OutcomeUnknownError) as error:
                if not is_repeatable:
                    self.require_metadata()
                    raise _outcome_unknown() from error
            except KafkaError as error:
                if error.code not in _RETRIED:
                    raise
            await self.wait_moved()

    async def send(
        self,
        request: Message,
        *,
        lane: ForwardingLane = ForwardingLane.REQUESTS,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
    ) -> Any:
        """Sends a request of this node once and returns the response. Raises `ChannelError`, or
        `KafkaError` if the controller here is not active or this node's metadata has failed."""
        self.require_metadata()
        if self.is_here:
            return await self._service.serve(request)
        assert request.api_key is not None
        version = _VERSIONS[ApiKey(request.api_key)]
        return await self._send(lane, request, version, timeout_ms)

    def close(self) -> None:
        for line in (*self._lines.values(), *self._replaced):
            line.peer.close()

    def _leader_changed(self) -> None:
        """Fails the pending requests that can be repeated, so that they are sent to the new
        controller."""
        leader_id, epoch = self._quorum.leader_and_epoch
        for lane in _MOVING:
            line = self._lines.get(lane)
            if line is not None and leader_id is not None and line.epoch < epoch:
                del self._lines[lane]
                line.peer.close()
        self._moved.wake()

    async def _send(
        self, lane: ForwardingLane, request: Message, version: int, timeout_ms: int
    ) -> Any:
        line = self._line(lane)
        line.pending += 1
        try:
            return await line.peer.send(request, version, timeout_ms=timeout_ms)
        finally:
            line.pending -= 1
            if not line.pending and line in self._replaced:
                self._replaced.remove(line)
                line.peer.close()

    def _line(self, lane: ForwardingLane) -> _Line:
        address = self._locate()
        if address is None:
            raise NotSentError("the active controller is not known yet; try again in a moment")
        line = self._lines.get(lane)
        if line is None or line.address != address:
            if line is not None:
                self._replace(lane, line)
            epoch = self._quorum.leader_and_epoch.epoch
            line = self._lines[lane] = _Line(address, self._open(lane, address), epoch)
        return line

    def _replace(self, lane: ForwardingLane, line: _Line) -> None:
        if lane is ForwardingLane.UNREPEATABLE and line.pending:
            self._replaced.add(line)
        else:
            line.peer.close()

    def _open(self, lane: ForwardingLane, address: Address) -> Peer:
        return Peer(
            self._network,
            self._clock,
            self._dice,
            self._tasks,
            lambda: address,
            client_id=f"ottla-{self._node_id}-{lane.name.lower()}",
            backoff=_BACKOFF,
            on_lost=self._on_lost if lane is ForwardingLane.HEARTBEATS else _nothing,
            security=self.security,
        )

    def require_metadata(self) -> None:
        """Raises KafkaError if this node's metadata has failed. Such a node gets no metadata
        updates, so it sends no heartbeats either: other brokers then take over its partitions."""
        if self.has_failed:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"this node's metadata log has failed ({self._quorum.failure}); see the node's "
                "log for the cause, fix it and restart the node",
            )

    async def _forward_once(
        self,
        request: Message,
        version: int,
        rights: Rights,
        client_id: str,
        timeout_ms: int,
        *,
        is_repeatable: bool,
    ) -> Any:
        self.require_metadata()
        if self.is_here:
            return await self._service.serve(
                request, rights=rights, version=version, client_id=client_id
            )
        key = request.api_key
        assert key is not None
        envelope = _envelope_of(request, version, rights, client_id)
        lane = ForwardingLane.REPEATABLE if is_repeatable else ForwardingLane.UNREPEATABLE
        answer: EnvelopeResponse = await self._send(lane, envelope, versions.ENVELOPE, timeout_ms)
        if answer.error_code == ErrorCode.REQUEST_TIMED_OUT:
            raise _outcome_unknown()
        if answer.error_code != ErrorCode.NONE or answer.response_data is None:
            raise _refusal(ErrorCode(answer.error_code))
        _, response = decode_response(answer.response_data, key, version)
        return response


def _envelope_of(request: Message, version: int, rights: Rights, client_id: str) -> EnvelopeRequest:
    parts = encode_request(request, version, correlation_id=0, client_id=client_id or None)
    data = b"".join(parts)[4:]
    if rights is UNRESTRICTED:
        # Without a principal it is a request of this node, which the controller authenticates.
        return EnvelopeRequest(request_data=data, request_principal=None)
    return EnvelopeRequest(
        request_data=data,
        request_principal=encode_principal(rights.principal),
        client_host_address=encode_host(rights.host),
    )


def _refusal(code: ErrorCode) -> KafkaError:
    """The error for the client. An error of the envelope itself is not the client's."""
    if code not in _ENVELOPE_ERRORS:
        return KafkaError(code, f"the controller answered with error {code.name}")
    _log.error(
        "the controller refuses forwarded requests of this node with %s: make its principal a "
        "super user of the controllers, or allow it CLUSTER_ACTION on the cluster",
        code.name,
    )
    return KafkaError(
        ErrorCode.UNKNOWN_SERVER_ERROR, "the controller refuses forwarded requests of this node"
    )


def _outcome_unknown() -> OutcomeUnknownError:
    return OutcomeUnknownError(
        ErrorCode.REQUEST_TIMED_OUT,
        "the active controller was lost before it answered, and may have executed the request; "
        "check whether it took effect before you send it again",
    )
