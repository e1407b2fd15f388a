"""A program with traces as users write it, checked by mypy in strict mode. It never runs."""

from __future__ import annotations

from ottla.client import Consumer, Producer, RecordMetadata
from ottla.client.sync import Producer as BlockingProducer
from ottla.client.tracing import Tracing


async def bill(consumer: Consumer, producer: Producer) -> None:
    headers = {"Authorization": "Bearer abc"}
    async with Tracing("http://127.0.0.1:4318", service="billing", headers=headers) as tracing:
        for record in await consumer.poll():
            with tracing.processing(record), tracing.sending("invoices") as trace:
                more = [*trace, ("source", b"web")]
                await producer.send_and_wait("invoices", record.value, headers=more)


def send(producer: BlockingProducer) -> RecordMetadata:
    with Tracing(sample_ratio=0.5) as tracing, tracing.sending("orders") as headers:
        return producer.send_and_wait("orders", b"value", headers=headers)
