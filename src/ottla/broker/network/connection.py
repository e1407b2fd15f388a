"""A client connection: reads frames, dispatches requests, sends responses in request order.

    reading ──▶ dispatching ──▶ responding
       ▲                            │
       └── paused while a response is pending, the peer does not read, or its turn is over

A pending request blocks the requests behind it, unless it is a Produce request that waits for
acknowledgement: producers pipeline them, and the log has already appended their batches in order.
So a connection has at most one pending request of another API. Reading
pauses while the client does not read its responses. A connection with many requests yields to the
other connections after a turn (fair_turns.py).

As in Kafka, a malformed request, an unknown API or an unsupported version closes the connection.
Only ApiVersions gets a response in any version.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping

from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.network.awaited import Awaited, AwaitedResponses
from ottla.broker.network.client_session import ClientSession, NotAuthenticatedError
from ottla.broker.network.connection_limits import ConnectionLimits
from ottla.broker.network.connections import Connections
from ottla.broker.network.fair_turns import FairTurns
from ottla.broker.network.handling import HandledApi, unsupported_version
from ottla.broker.network.listener_access import ListenerAccess
from ottla.broker.network.listener_counters import ListenerCounters
from ottla.broker.network.pending import Pending
from ottla.broker.network.responses import Responses
from ottla.broker.network.sender_contexts import SenderContexts
from ottla.broker.network.tenant_door import TenantDoor
from ottla.broker.network.throttling import Throttling
from ottla.broker.quotas.client_quotas import ClientQuotas
from ottla.runtime.clock import Clock
from ottla.runtime.network import Connection
from ottla.runtime.tasks import Tasks
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.wire.apis import ApiKey
from ottla.wire.errors import ProtocolError
from ottla.wire.frames import FrameReader
from ottla.wire.requests import decode_request_head
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)


class ClientConnection:
    """Handler of one connection, created by the listener. Owned by the node's loop."""

    def __init__(
        self,
        listener: str,
        apis: Mapping[int, HandledApi],
        connections: Connections,
        limits: ConnectionLimits,
        clock: Clock,
        tasks: Tasks,
        access: ListenerAccess,
        counters: ListenerCounters,
        quotas: ClientQuotas,
        turns: FairTurns,
        door: TenantDoor | None,
        users: LimitedUsers,
        *,
        request_bytes_max: int,
    ) -> None:
        """`apis` are the APIs that this listener serves, by API key."""
        self.listener = listener
        self._apis = apis
        self._connections = connections
        self._limits = limits
        self._tasks = tasks
        self._counters = counters
        self._when_closed: dict[Callable[[], None], None] = {}
        self._request_bytes_max = request_bytes_max
        self._session = ClientSession(
            access,
            clock,
            on_identified=self._identified,
            on_late=self.abort,
            on_refused=self.close,
        )
        self._frames = FrameReader(frame_bytes_max=self._session.frame_bytes_max(request_bytes_max))
        self._senders = SenderContexts(self, self._session, listener, quotas, turns, door, users)
        self._contexts = self._senders.known
        self._awaited = AwaitedResponses()
        self._queue = self._awaited.queue
        self._responses = Responses(clock.monotonic, counters.sent_bytes, door)
        self._is_peer_slow = False
        self._is_turn_over = False
        self._is_closing = False
        self._is_reading = True
        self._is_measured = counters.measures_requests
        self._quotas = quotas
        self._door = door
        self._turns = turns
        self._throttling = Throttling(
            quotas, clock, self._begin_turn, is_measured=self._is_measured
        )
        self._monotonic = clock.monotonic
        self.last_active = self._turn_started = self._arrived = self._monotonic()
        limits.accepted(listener)
        counters.accepted.add()

    def connected(self, connection: Connection) -> None:
        self._connection = connection
        self._connections.add(self)
        self._session.begin(connection)
        refusal = self._limits.refusal_of(self.listener, connection.peer_address.host)
        if refusal is not None:
            _log.info("closing the connection from %s: %s", connection.peer_address, refusal.reason)
            self._counters.refused.add()
            self._throttling.close_after(refusal.seconds, self.close)
            self._read_or_not()

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return self._frames.get_buffer()

    def buffer_filled(self, length: int) -> None:
        self._frames.buffer_filled(length)
        self._counters.received_bytes.value += length
        self.last_active = self._turn_started = self._arrived = now = self._monotonic()
        turns, share = self._turns, self._senders.share
        if turns.last is not share:
            turns.enter(share, now)
        if now < turns.contended_until:
            self._take_turn(now)
        else:
            self._dispatch()

    def _take_turn(self, now: float) -> None:
        """Handles requests, or waits for the turn of the client, while others send requests."""
        if self._turns.may_run(self._senders.share):
            self._dispatch()
            self._turns.spend(self._senders.share, self._monotonic() - now)
        else:
            self._end_turn()
            self._read_or_not()

    def pause_writing(self) -> None:
        self._is_peer_slow = True
        self._read_or_not()

    def resume_writing(self) -> None:
        self._is_peer_slow = False
        self.last_active = self._turn_started = self._monotonic()
        self._dispatch()

    def closed(self, error: Exception | None) -> None:
        self._is_closing = True
        self._session.end()
        self._throttling.end()
        self._senders.end()
        self._connections.discard(self)
        self._counters.closed.add()
        self._limits.ended(self.listener, self._connection.peer_address.host)
        self._awaited.abandon()
        for callback in list(self._when_closed):
            callback()
        self._release()
        if isinstance(error, TlsHandshakeError):
            self._session.report_failure(str(error))
        elif error is not None:
            _log.debug("the connection from %s ended: %s", self._connection.peer_address, error)

    def when_closed(self, callback: Callable[[], None]) -> None:
        if self in self._connections:
            self._when_closed[callback] = None
        else:
            # The connection closed before the handler's task ran.
            callback()

    def ignore_close(self, callback: Callable[[], None]) -> None:
        self._when_closed.pop(callback, None)

    @property
    def session(self) -> ClientSession:
        return self._session

    @property
    def waiting_apis(self) -> list[str]:
        """The APIs of the requests whose response is pending. None if requests are not measured."""
        return self._awaited.apis

    @property
    def is_closing(self) -> bool:
        """Whether the connection only waits for the peer to read the last responses."""
        return self._is_closing

    def close(self) -> None:
        """Closes the connection after the responses already written are sent."""
        self._is_closing = True
        self._frames.release()
        self._connection.close()

    def abort(self) -> None:
        self._is_closing = True
        self._frames.release()
        self._connection.abort()

    def _release(self) -> None:
        """Frees the buffers of a closed connection. The connection, its contexts and its transport
        are a reference cycle, so the memory would stay until a full garbage collection."""
        self._frames.release()
        self._responses.clear()
        self._contexts.clear()
        self._when_closed.clear()

    def _dispatch(self) -> None:
        """Handles received frames until a response is pending or the turn is over."""
        if self._survives(self._handle_frames) and (
            self._queue
            or self._is_peer_slow
            or self._is_turn_over
            or self._throttling.is_muted
            or not self._is_reading
        ):
            self._read_or_not()

    def _survives(self, step: Callable[[], None]) -> bool:
        """Runs `step`; returns whether the connection is still open. An exception closes only this
        connection; it never reaches the caller that woke it, such as another one's append."""
        try:
            try:
                step()
            finally:
                self._responses.write_to(self._connection)
        except NotAuthenticatedError:
            self.close()
        except (ProtocolError, ConnectionAbortedError) as error:
            _log.info("closing the connection from %s: %s", self._connection.peer_address, error)
            self._counters.rejected_requests.add()
            self.close()
        except Exception:
            _log.exception("closing the connection from %s", self._connection.peer_address)
            self._counters.rejected_requests.add()
            self.abort()
        return not self._is_closing

    def _handle_frames(self) -> None:
        frames = self._frames
        started = self._turn_started
        while self._may_dispatch():
            frame = frames.next_frame()
            if frame is None:
                break
            self._handle(frame, started)
            if self._responses.are_many:
                self._responses.write_to(self._connection)
            if not frames.has_received:
                break
            started = self._monotonic()
            if started - self._turn_started > self._turns.turn_seconds:
                self._end_turn()

    def _end_turn(self) -> None:
        """Yields to other connections; the remaining frames are handled after them."""
        if not self._is_turn_over:
            self._is_turn_over = True
            self._turns.queue(self._senders.share, self._begin_turn)

    def _begin_turn(self) -> None:
        self._is_turn_over = False
        self._turn_started = self._monotonic()
        self._dispatch()

    def _may_dispatch(self) -> bool:
        if self._is_peer_slow or self._is_turn_over or self._is_closing:
            return False
        if self._throttling.is_muted:
            return False
        return not self._queue or self._awaited.lets_others_pass

    def _read_or_not(self) -> None:
        should_read = self._may_dispatch()
        if should_read != self._is_reading:
            self._is_reading = should_read
            if should_read:
                self._connection.resume_reading()
            else:
                self._connection.pause_reading()

    def _handle(self, frame: memoryview, started: float) -> None:
        key, version, correlation_id, client_id, position = decode_request_head(frame)
        api = self._apis.get(key)
        if api is None:
            raise ProtocolError(f"API {key} is not supported on this listener")
        # First: also a request that is refused for its version counts.
        if self._session.sasl is not None:
            self._session.check(key)
        if version not in api.versions:
            if key != ApiKey.API_VERSIONS:
                raise ProtocolError(
                    f"{api.key.name} version {version} is not supported on this listener, only "
                    f"{api.versions[0]} to {api.versions[-1]}"
                )
            self._refuse_version(api, correlation_id, started)
            return
        request, _ = api.request_class.decode_from(frame, version, position)
        context = self._contexts.get(key << 16 | version)
        if context is None or context.client_id != client_id:
            context = self._senders.make(api, version, client_id)
        if self._door is not None:
            self._door.enter(request, version)
        metrics = timing = charge = None
        if self._is_measured:
            metrics = api.metrics
            if metrics.of_followers is not None:
                metrics = metrics.for_request(request)
            metrics.requests[version] += 1
            metrics.bytes += len(frame)
            metrics.untimed -= 1
            if metrics.untimed:
                answer = api.handler(context, request)
            else:
                times = metrics.take_gap()
                answer = api.handler(context, request)
                handled = self._monotonic()
                timing = (metrics, times, self._arrived, started, handled, handled)
        else:
            answer = api.handler(context, request)
        if self._quotas.is_enabled:
            charge = self._throttling.charge_of(api, context, request, len(frame), started)
            if charge is not None:
                answer = charge.timed(answer)
        if isinstance(answer, Message) and not self._queue:
            if charge is not None:
                self._throttling.apply(charge, answer)
            self._responses.add(answer, version, correlation_id, metrics, timing)
        elif answer is not None:
            pending = self._pending(api, answer)
            lets_pass = api.key is ApiKey.PRODUCE
            self._awaited.add(
                Awaited(pending, version, correlation_id, lets_pass, metrics, timing, charge),
                self._answer_resolved,
            )
        else:
            if charge is not None:
                self._throttling.apply(charge, None)
            if timing is not None:
                timing[0].completed(*timing[1:], timing[-1])

    def _refuse_version(self, api: HandledApi, correlation_id: int, started: float) -> None:
        """Answers an unsupported version of ApiVersions with the supported ones, in version 0."""
        metrics = timing = None
        if self._is_measured:
            now = self._monotonic()
            metrics = api.metrics
            metrics.requests[0] += 1
            timing = (metrics, 1, self._arrived, started, now, now)
        self._responses.add(unsupported_version(api), 0, correlation_id, metrics, timing)

    def _pending(self, api: HandledApi, answer: Message | Pending | Awaitable[Message]) -> Pending:
        if isinstance(answer, Pending):
            return answer
        pending = Pending()
        if isinstance(answer, Message):
            pending.resolve(answer)
        else:
            self._tasks.start(api.key.name, self._resolve(answer, pending))
        return pending

    def _identified(self) -> None:
        self._frames.frame_bytes_max = self._request_bytes_max
        self._contexts.clear()

    async def _resolve(self, answer: Awaitable[Message], pending: Pending) -> None:
        try:
            pending.resolve(await answer)
        except ConnectionAbortedError as error:
            _log.info("closing the connection from %s: %s", self._connection.peer_address, error)
            self.close()
        except Exception:
            self._connection.abort()
            raise

    def _answer_resolved(self) -> None:
        self.last_active = self._monotonic()
        if not self._survives(self._send_resolved):
            return
        if self._frames.has_received:
            # Do not dispatch here: the next request may be an append that wakes another
            # connection, and so on recursively.
            self._end_turn()
        self._read_or_not()

    def _send_resolved(self) -> None:
        """Sends the responses that are ready, up to the first that is pending."""
        for awaited, response in self._awaited.take_resolved():
            timing = awaited.timing
            if timing is not None:
                timing = (*timing[:5], self.last_active)
            if awaited.charge is not None:
                self._throttling.apply(awaited.charge, response)
            self._responses.add(
                response, awaited.version, awaited.correlation_id, awaited.metrics, timing
            )
