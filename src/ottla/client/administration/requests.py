"""How `Admin` sends its requests: to the node that can answer, in batches, within a deadline.

An error that another attempt may cure, such as a leader that moved, is retried with the back-off of
the cluster; only items without a final outcome are sent again. What an attempt has answered with a
final error stays. Errors that say something about the item, such as an unknown topic, are final.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ottla.channels import ChannelError
from ottla.client.administration.results import Results
from ottla.client.cluster import ClientCluster, CoordinatorKind
from ottla.client.errors import (
    ClientError,
    ConnectionFailedError,
    IllegalStateError,
    TimedOutError,
    error_for,
)
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.wire.schema import Message

K = TypeVar("K")
V = TypeVar("V")

# In place of a node's id: whichever answers.
ANY_NODE: Final = -1
# Items per request: as many as a cluster can well answer within the time of a request.
ITEMS_MAX: Final = 100
_MS: Final = 1_000
# Within this time, brokers know topics that were created.
_NEWS_SECONDS: Final = 1.0
# The state of the cluster is about to change, and the same request is answered then.
_TRANSIENT: Final = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)
_OF_COORDINATORS: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
    }
)

# In a correct answer, every item has its outcome.
_LEFT_OUT: Final = error_for(
    ErrorCode.UNKNOWN_SERVER_ERROR, "the node's answer leaves this item out"
)
Outcomes = Mapping[K, V | ClientError]
# Sends one request for these items to a node, and reads the answer.
Exchange = Callable[[int, Sequence[K]], Awaitable[Mapping[K, V | ClientError]]]


def node_error(code: int, message: str | None = None) -> ClientError:
    """The error that a node answered, with its message or with the words of its name."""
    if message:
        return error_for(code, message)
    try:
        words = ErrorCode(code).name.replace("_", " ").lower()
    except ValueError:
        words = "unknown error"
    return error_for(code, words)


def require(code: int, message: str | None = None) -> None:
    """Raises the error of an answer."""
    if code:
        raise node_error(code, message)


def outcome(value: V, code: int, message: str | None = None) -> V | ClientError:
    return node_error(code, message) if code else value


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return found


class AdminRequests:
    """The base of what `Admin` is made of. `timeout` is in seconds, None for the client's own."""

    def __init__(self, cluster: ClientCluster, *, timeout: float) -> None:
        self._cluster = cluster
        self._timeout = timeout
        self._is_closed = False

    async def close(self) -> None:
        """Closes all connections. A call in progress fails."""
        self._is_closed = True
        await self._cluster.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise IllegalStateError("this Admin is closed")

    def _deadline(self, timeout: float | None) -> float:
        return self._cluster.clock.monotonic() + (self._timeout if timeout is None else timeout)

    def _remaining_ms(self, deadline: float) -> int:
        """What a request may say that the cluster has to answer it."""
        return max(int((deadline - self._cluster.clock.monotonic()) * _MS), 1)

    async def _retrying(
        self, what: str, attempt: Callable[[], Awaitable[V]], timeout: float | None
    ) -> V:
        """For requests that fail as a whole."""

        async def once() -> V:
            self._require_open()
            return await attempt()

        return await self._cluster.retrying(what, once, deadline=self._deadline(timeout))

    async def _ask_any(self, what: str, request: Message, timeout: float | None) -> Any:
        """The answer of any node."""
        return await self._retrying(what, lambda: self._cluster.send_to_any(request), timeout)

    async def _ask_node(self, node_id: int, request: Message) -> Any:
        """One answer of this node. Raises BrokerNotAvailable if the cluster has no such node."""
        if node_id == ANY_NODE:
            return await self._cluster.send_to_any(request)
        if node_id not in self._cluster.metadata.nodes:
            await self._cluster.refresh(())
            if node_id not in self._cluster.metadata.nodes:
                raise unknown_broker(node_id)
        return await self._cluster.send(node_id, request)

    async def _ask_controller(
        self,
        what: str,
        request: Message,
        timeout: float | None,
        check: Callable[[Any], None] = lambda _answer: None,
    ) -> Any:
        """The answer of the active controller; `check` raises the error of an answer."""

        async def attempt() -> Any:
            answer = await self._cluster.send_to_controller(request)
            check(answer)
            return answer

        return await self._retrying(what, attempt, timeout)

    async def _each(
        self,
        what: str,
        items: Iterable[K],
        attempt: Callable[[Sequence[K]], Awaitable[Outcomes[K, V]]],
        timeout: float | None,
    ) -> Results[K, V]:
        """Repeats the attempt for the items that have no final outcome yet. An error that it raises
        is that of all of them."""
        pending = list(dict.fromkeys(items))
        found: dict[K, V | ClientError] = {}

        async def once() -> None:
            nonlocal pending
            self._require_open()
            outcomes = await attempt(pending)
            found.update({key: outcomes.get(key, _LEFT_OUT) for key in pending})
            pending = [key for key in pending if is_transient(found[key])]
            if pending:
                first = found[pending[0]]
                raise first if isinstance(first, KafkaError) else _network_error(first)

        if pending:
            try:
                await self._cluster.retrying(what, once, deadline=self._deadline(timeout))
            except (KafkaError, TimedOutError):
                if any(key not in found for key in pending):
                    raise
        return Results(found)

    async def _in_requests(
        self,
        what: str,
        items: Iterable[K],
        send: Callable[[Sequence[K]], Awaitable[Outcomes[K, V]]],
        timeout: float | None,
    ) -> Results[K, V]:
        """Some items at a time, one request after the other, to one node."""

        async def attempt(keys: Sequence[K]) -> Outcomes[K, V]:
            found: dict[K, V | ClientError] = {}
            for some in batches(keys):
                found.update(await send(some))
            return found

        return await self._each(what, items, attempt, timeout)

    async def _by_node(
        self, places: Mapping[K, int | ClientError], exchange: Exchange[K, V]
    ) -> Outcomes[K, V]:
        """To each node what is for it, all nodes at the same time. Those without a node have their
        errors already."""
        found: dict[K, V | ClientError] = {}
        nodes: dict[int, list[K]] = {}
        for key, place in places.items():
            if isinstance(place, ClientError):
                found[key] = place
            else:
                nodes.setdefault(place, []).append(key)
        answers = await asyncio.gather(
            *(self._of_node(node_id, keys, exchange) for node_id, keys in nodes.items())
        )
        for answer in answers:
            found.update(answer)
        return found

    async def _of_node(
        self, node_id: int, keys: Sequence[K], exchange: Exchange[K, V]
    ) -> Outcomes[K, V]:
        found: dict[K, V | ClientError] = {}
        try:
            for some in batches(keys):
                found.update(await exchange(node_id, some))
        except ChannelError as error:
            failure = connection_error(error, node_id)
            found.update({key: failure for key in keys if key not in found})
        except ClientError as error:
            found.update({key: error for key in keys if key not in found})
        return found

    async def _each_broker(
        self,
        what: str,
        brokers: Iterable[int] | None,
        exchange: Callable[[int], Awaitable[V]],
        timeout: float | None,
    ) -> Results[int, V]:
        """One request to each broker; None for all that serve."""
        deadline = self._deadline(timeout)
        if brokers is None:
            known = await self._retrying(what, lambda: self._cluster.refresh(()), timeout)
            brokers = sorted(known.nodes)

        async def of_one(node_id: int, keys: Sequence[int]) -> Outcomes[int, V]:
            return {key: await exchange(node_id) for key in keys}

        async def attempt(ids: Sequence[int]) -> Outcomes[int, V]:
            return await self._by_node({each: each for each in ids}, of_one)

        left = max(deadline - self._cluster.clock.monotonic(), 0)
        return await self._each(what, brokers, attempt, left)

    async def _each_leader(
        self,
        what: str,
        partitions: Iterable[TopicPartition],
        exchange: Exchange[TopicPartition, V],
        timeout: float | None,
    ) -> Results[TopicPartition, V]:
        """One request to each leader. What was created a moment ago, not every broker knows."""
        is_first = True
        known_by = self._cluster.clock.monotonic() + _NEWS_SECONDS

        async def attempt(names: Sequence[TopicPartition]) -> Outcomes[TopicPartition, V]:
            nonlocal is_first
            is_known = all(self._cluster.leader(name) is not None for name in names)
            if not (is_first and is_known):
                await self._cluster.refresh({name.topic for name in names})
            is_first = False
            may_be_news = self._cluster.clock.monotonic() < known_by
            places = {name: self._place(name, may_be_news=may_be_news) for name in names}
            return await self._by_node(places, exchange)

        names = [TopicPartition(*each) for each in partitions]
        return await self._each(what, names, attempt, timeout)

    def _place(self, name: TopicPartition, *, may_be_news: bool) -> int | ClientError:
        leader = self._cluster.leader(name)
        if leader is not None:
            return leader.node_id
        metadata, code = self._cluster.metadata, ErrorCode.LEADER_NOT_AVAILABLE
        reason = f"{name} has no leader"
        if metadata.partition(name) is None:
            code = metadata.errors.get(name.topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            reason = f"there is no partition {name}"
        if code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return node_error(code, reason if code is ErrorCode.LEADER_NOT_AVAILABLE else None)
        return node_error(ErrorCode.LEADER_NOT_AVAILABLE if may_be_news else code, reason)

    async def _each_key(
        self,
        what: str,
        kind: CoordinatorKind,
        keys: Iterable[str],
        exchange: Exchange[str, V],
        timeout: float | None,
    ) -> Results[str, V]:
        """To the coordinator of each group or transactional id."""

        async def attempt(ids: Sequence[str]) -> Outcomes[str, V]:
            places = dict(zip(ids, await self._coordinators(kind, ids), strict=True))
            found = await self._by_node(places, exchange)
            for key, result in found.items():
                self._forget(kind, key, places[key], result)
            return found

        return await self._each(what, keys, attempt, timeout)

    async def _coordinators(
        self, kind: CoordinatorKind, keys: Sequence[str]
    ) -> list[int | ClientError]:
        async def find(key: str) -> int | ClientError:
            try:
                return await self._cluster.coordinator(kind, key)
            except ClientError as error:
                return error

        return await asyncio.gather(*map(find, keys))

    def _forget(
        self, kind: CoordinatorKind, key: str, node: int | ClientError, result: object
    ) -> None:
        is_lost = isinstance(result, KafkaError) and result.code in _OF_COORDINATORS
        if isinstance(node, int) and (is_lost or is_unanswered(result)):
            self._cluster.forget_coordinator(kind, key, node)

    async def _of_coordinator(
        self,
        what: str,
        kind: CoordinatorKind,
        key: str,
        attempt: Callable[[int], Awaitable[V]],
        timeout: float | None,
    ) -> V:
        """One exchange with the coordinator of one key. Raises its error."""

        async def once(node_id: int, keys: Sequence[str]) -> Outcomes[str, V]:
            return dict.fromkeys(keys, await attempt(node_id))

        return (await self._each_key(what, kind, [key], once, timeout))[key]


def batches(items: Sequence[K], size: int = ITEMS_MAX) -> Iterable[Sequence[K]]:
    return (items[first : first + size] for first in range(0, len(items), size))


def is_transient(result: object) -> bool:
    if isinstance(result, KafkaError):
        return result.code in _TRANSIENT
    return is_unanswered(result)


def is_unanswered(result: object) -> bool:
    return (
        isinstance(result, ClientError)
        and not isinstance(result, KafkaError)
        and (result.retriable)
    )


def connection_error(error: ChannelError, node_id: int) -> ConnectionFailedError:
    found = ConnectionFailedError(f"node {node_id} did not answer: {error}")
    found.__cause__ = error
    return found


def _network_error(error: object) -> ClientError:
    return node_error(ErrorCode.NETWORK_EXCEPTION, str(error))


def unknown_broker(broker_id: int) -> ClientError:
    return node_error(ErrorCode.BROKER_NOT_AVAILABLE, f"there is no live broker {broker_id}")
