"""An idempotent producer of a real client that numbers what it writes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, Message, Producer

_FLUSH_SECONDS_MAX = 60.0
_IN_FLIGHT_MAX = 1_000
# Then a few records follow one another.
_PAUSE_SECONDS = 0.005
_RECORDS_PER_PAUSE = 5
_CONFIGS: dict[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 2,
    # A request carries a few records, so that a kill comes between many of them.
    "batch.num.messages": 20,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 100,
    "retry.backoff.ms": 10,
    "message.timeout.ms": 120_000,
    # It would tell of every connection that is refused while the node is down.
    "log_level": 0,
}


class NumberedProducer:
    """Writes 0, 1, 2, ... to each partition during its `with`, in a thread of its own; at the end
    it waits until all of it is acknowledged."""

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        partitions: int,
        *,
        value_bytes: int = 0,
        predecessor: NumberedProducer | None = None,
    ) -> None:
        """`client` has the configs with which to connect, and others. Values are numbers in digits,
        with zeros in front to have so many bytes. They go on after those of a predecessor."""
        self.topic = topic
        self.partitions = partitions
        # By partition, what was acknowledged: the number at each offset.
        self.acknowledged: list[dict[int, int]] = [{} for _ in range(partitions)]
        self.written = 0
        if predecessor is not None:
            self.acknowledged = [dict(each) for each in predecessor.acknowledged]
            self.written = predecessor.written
        self._value_bytes = value_bytes
        self._producer = Producer({**_CONFIGS, **client})
        self._errors: list[KafkaError] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        if kind is None:
            assert self._producer.flush(_FLUSH_SECONDS_MAX) == 0, "not all was acknowledged"
            assert not self._errors, self._errors[0]
        else:
            self._producer.purge()

    @property
    def acknowledged_count(self) -> int:
        return sum(map(len, self.acknowledged))

    def _run(self) -> None:
        for number in itertools.count(self.written):
            if number % _RECORDS_PER_PAUSE == 0 and self._stopping.wait(_PAUSE_SECONDS):
                return
            for partition in range(self.partitions):
                self._producer.produce(
                    self.topic,
                    value=b"%0*d" % (self._value_bytes, number),
                    partition=partition,
                    on_delivery=self._delivered,
                )
            self.written = number + 1
            self._producer.poll(0)
            while len(self._producer) > _IN_FLIGHT_MAX and not self._stopping.is_set():
                self._producer.poll(0.01)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._errors.append(error)
            return
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None
        assert offset is not None
        assert value is not None
        self.acknowledged[partition][offset] = int(value)
