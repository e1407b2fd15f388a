"""aiokafka, for asyncio; each call has an event loop of its own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.abc import AbstractTokenProvider  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    BrokerResponseError,
    KafkaConnectionError,
)

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.clients import (
    NO_TOKENS,
    LoginRefusedError,
    RefusedError,
    UntrustedError,
)
from tests.conformance.security.log_capture import captured_log
from tests.conformance.security.logins import Endpoint, Login


class AiokafkaSecuredClient:
    name = "aiokafka"

    def why_not(self, login: Login) -> str | None:
        return f"aiokafka {NO_TOKENS}" if login.is_token else None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        with _translated_errors():
            asyncio.run(asyncio.wait_for(_produce(endpoint, login, topic, values), TIMEOUT_S))

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        with _translated_errors():
            consuming = _consume(endpoint, login, topic, group, count)
            return asyncio.run(asyncio.wait_for(consuming, TIMEOUT_S))


async def _produce(endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=endpoint.address, **configs(endpoint, login))
    async with _started(producer):
        sent = [await producer.send(topic, value.encode()) for value in values]
        await asyncio.gather(*sent)


async def _consume(
    endpoint: Endpoint, login: Login, topic: str, group: str, count: int
) -> list[str]:
    found: list[str] = []
    consumer = _consumer(endpoint, login, topic, group)
    async with _started(consumer):
        while len(found) < count:
            found += await _receive(consumer)
        await consumer.commit()
    return found


def _consumer(endpoint: Endpoint, login: Login, topic: str, group: str) -> Any:
    return AIOKafkaConsumer(
        topic,
        bootstrap_servers=endpoint.address,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=50,
        **configs(endpoint, login),
    )


async def _receive(consumer: Any) -> list[str]:
    received = (await consumer.getmany(timeout_ms=50)).values()
    return [record.value.decode() for records in received for record in records]


@asynccontextmanager
async def _started(client: Any) -> AsyncIterator[None]:
    """Its own context manager does not stop a client that cannot start."""
    try:
        await client.start()
        yield
    finally:
        await client.stop()


class LastingAiokafkaClient:
    """Its event loop runs within the calls only."""

    def __init__(self, endpoint: Endpoint, login: Login, topic: str) -> None:
        self._topic = topic
        self._runner = asyncio.Runner()
        self._runner.run(self._start(endpoint, login))

    async def _start(self, endpoint: Endpoint, login: Login) -> None:
        where = {"bootstrap_servers": endpoint.address, **configs(endpoint, login)}
        self._producer = AIOKafkaProducer(**where)
        self._consumer = _consumer(endpoint, login, self._topic, self._topic)
        await self._producer.start()
        await self._consumer.start()

    def send(self, value: str) -> None:
        self._runner.run(self._producer.send_and_wait(self._topic, value.encode()))

    def receive(self) -> list[str]:
        return self._runner.run(_receive(self._consumer))

    def close(self) -> None:
        self._runner.run(self._consumer.stop())
        self._runner.run(self._producer.stop())
        self._runner.close()


def configs(endpoint: Endpoint, login: Login) -> dict[str, Any]:
    """To be called where an event loop runs."""
    found: dict[str, Any] = {"security_protocol": endpoint.protocol}
    if endpoint.has_tls:
        context = ssl.create_default_context(cafile=str(endpoint.truststore))
        context.check_hostname = endpoint.verifies_host
        if login.certificate is not None:
            context.load_cert_chain(login.certificate)
        found["ssl_context"] = context
    if login.mechanism is not None:
        found["sasl_mechanism"] = login.mechanism
    if login.bearer is not None:
        found["sasl_oauth_token_provider"] = _Provider(login.bearer_token)
    elif login.mechanism is not None:
        found |= {"sasl_plain_username": login.user, "sasl_plain_password": login.password}
    return found


class _Provider(AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        self._text = text

    async def token(self) -> str:
        return self._text


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Why it cannot connect, it says only in its log."""
    with captured_log("aiokafka") as lines:
        try:
            yield
        except KafkaConnectionError as error:
            reasons = "\n".join(lines)
            if "SaslAuthenticationFailed" in reasons:
                raise LoginRefusedError(reasons) from error
            if "CERTIFICATE_VERIFY_FAILED" in reasons:
                raise UntrustedError(reasons) from error
            raise
        except BrokerResponseError as error:
            raise RefusedError(error.errno, str(error)) from error
