"""The project's own client, by the property names that a Java client has; each call has an event
loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ottla.client import (
    ClientError,
    Consumer,
    Producer,
    RefusedConnectionError,
)
from ottla.model import KafkaError
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.clients import (
    LoginRefusedError,
    RefusedError,
    UntrustedError,
)
from tests.conformance.security.logins import Endpoint, Login, kafka_properties


class OttlaSecuredClient:
    name = "ottla"

    def why_not(self, login: Login) -> str | None:
        return None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        async def produce() -> None:
            async with Producer(kafka_properties(endpoint, login)) as producer:
                for delivery in [await producer.send(topic, value) for value in values]:
                    await delivery

        with _translated_errors():
            asyncio.run(asyncio.wait_for(produce(), TIMEOUT_S))

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        async def consume() -> list[str]:
            found: list[str] = []
            properties = {
                **kafka_properties(endpoint, login),
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
            async with Consumer(properties) as consumer:
                await consumer.subscribe([topic])
                while len(found) < count:
                    records = await consumer.poll(1.0)
                    found += [(record.value or b"").decode() for record in records]
                await consumer.commit()
            return found

        with _translated_errors():
            return asyncio.run(asyncio.wait_for(consume(), TIMEOUT_S))


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise RefusedError(error.code, error.message) from error
    except RefusedConnectionError as error:
        kind = UntrustedError if "certificate" in str(error) else LoginRefusedError
        raise kind(str(error)) from error
    except ClientError as error:
        raise AssertionError(f"not an error of security: {error!r}") from error
