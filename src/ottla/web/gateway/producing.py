"""Sends messages for callers, with a limit on what is in flight."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from ottla.client.records import RecordMetadata
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.messages.bodies import OutgoingMessage
from ottla.web.gateway.problems import GatewayProblem, no_partition, too_many

# A message in a batch: its bookkeeping.
_MESSAGE_BYTES = 256


class Producing:
    """One per gateway."""

    def __init__(self, *, in_flight_bytes_max: int) -> None:
        self._max = in_flight_bytes_max
        self.in_flight_bytes = 0
        # Messages, since the start.
        self.acknowledged = 0

    async def send(
        self, caller: CallerClients, topic: str, message: OutgoingMessage
    ) -> RecordMetadata:
        """Returns when the cluster has acknowledged the message. Raises GatewayProblem or the
        client's error."""
        producer = caller.ready_producer or await caller.producer()
        if message.partition is not None or not producer.knows(topic):
            count = await producer.partition_count(topic)
            if message.partition is not None and message.partition >= count:
                raise no_partition(topic, message.partition)
        size = message.size + _MESSAGE_BYTES
        self._reserve(size)
        caller.users += 1
        try:
            found = await (await producer.send(topic, message))
            self.acknowledged += 1
            return found
        finally:
            caller.users -= 1
            self.in_flight_bytes -= size

    async def send_all(
        self,
        caller: CallerClients,
        topic: str,
        messages: Sequence[OutgoingMessage | GatewayProblem],
    ) -> list[RecordMetadata | GatewayProblem]:
        """The outcome of each message, in their order. Raises what concerns all of them."""
        producer = caller.ready_producer or await caller.producer()
        count = await producer.partition_count(topic)
        size = 0
        for each in messages:
            if each.__class__ is OutgoingMessage:
                size += each.size + _MESSAGE_BYTES
        self._reserve(size)
        caller.users += 1
        try:
            sent: list[Awaitable[RecordMetadata] | GatewayProblem] = []
            for message in messages:
                if isinstance(message, GatewayProblem):
                    sent.append(message)
                    continue
                if message.partition is not None and message.partition >= count:
                    sent.append(no_partition(topic, message.partition))
                    continue
                try:
                    sent.append(await producer.send(topic, message))
                except CLIENT_ERRORS as error:
                    sent.append(problem_of(error))
            outcomes: list[RecordMetadata | GatewayProblem] = []
            acknowledged = 0
            for delivery in sent:
                if isinstance(delivery, GatewayProblem):
                    outcomes.append(delivery)
                    continue
                try:
                    outcomes.append(await delivery)
                    acknowledged += 1
                except CLIENT_ERRORS as error:
                    outcomes.append(problem_of(error))
            self.acknowledged += acknowledged
            return outcomes
        finally:
            caller.users -= 1
            self.in_flight_bytes -= size

    def _reserve(self, size: int) -> None:
        # One message alone is always let in.
        if self.in_flight_bytes and self.in_flight_bytes + size > self._max:
            raise too_many(
                "BUFFER_EXHAUSTED",
                f"{self.in_flight_bytes} bytes wait for the cluster, as many as may: send again "
                "later.",
            )
        self.in_flight_bytes += size
