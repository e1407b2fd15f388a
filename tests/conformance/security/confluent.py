"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final, NoReturn

import jwt
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import Delivery
from tests.conformance.security.certificates import STORE_PASSWORD
from tests.conformance.security.clients import (
    NO_TOKENS,
    LoginRefusedError,
    RefusedError,
    UntrustedError,
)
from tests.conformance.security.logins import Endpoint, Login

_POLL_S: Final = 0.05


class ConfluentSecuredClient:
    name = "confluent"

    def why_not(self, login: Login) -> str | None:
        return f"librdkafka {NO_TOKENS}" if login.is_token else None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        errors: list[KafkaError] = []
        producer = Producer(properties(endpoint, login, errors))
        deliveries = [Delivery() for _ in values]
        for value, delivery in zip(values, deliveries, strict=True):
            producer.produce(topic, value, on_delivery=delivery)
        _poll_until(lambda: producer.flush(_POLL_S) == 0, errors)
        for delivery in deliveries:
            delivery.position()

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        errors: list[KafkaError] = []
        found: list[str] = []
        own = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        with _consumer({**properties(endpoint, login, errors), **own}) as consumer:
            consumer.subscribe([topic])

            def poll() -> bool:
                message = consumer.poll(_POLL_S)
                if message is not None:
                    found.append(_value(message))
                return len(found) >= count

            _poll_until(poll, errors)
            consumer.commit(asynchronous=False)
        return found


class LastingConfluentClient:
    """Its consumer joins the group when it receives for the first time. Errors that concern no
    record are those of a connection, and the client connects again."""

    def __init__(self, endpoint: Endpoint, login: Login, topic: str) -> None:
        self._topic = topic
        configs = properties(endpoint, login, [])
        self._producer = Producer(configs)
        own = {"group.id": topic, "auto.offset.reset": "earliest"}
        self._consumer = Consumer({**configs, **own})
        self._consumer.subscribe([topic])

    def send(self, value: str) -> None:
        delivery = Delivery()
        self._producer.produce(self._topic, value, on_delivery=delivery)
        _poll_until(lambda: self._producer.flush(_POLL_S) == 0, [])
        delivery.position()

    def receive(self) -> list[str]:
        message = self._consumer.poll(_POLL_S)
        return [] if message is None or message.error() else [_value(message)]

    def close(self) -> None:
        self._consumer.close()


def properties(endpoint: Endpoint, login: Login, errors: list[KafkaError]) -> dict[str, Any]:
    """Errors that concern no record are appended to `errors`."""
    found: dict[str, Any] = {
        "bootstrap.servers": endpoint.address,
        "security.protocol": endpoint.protocol,
        "error_cb": errors.append,
        "log_level": 0,
        "reconnect.backoff.max.ms": 200,
        "fetch.wait.max.ms": 50,
    }
    if endpoint.has_tls:
        found["ssl.ca.location"] = str(endpoint.truststore)
        if not endpoint.verifies_host:
            found["ssl.endpoint.identification.algorithm"] = "none"
    if login.has_pkcs12:
        found["ssl.keystore.location"] = str(login.certificate)
        found["ssl.keystore.password"] = STORE_PASSWORD
    elif login.certificate is not None:
        found["ssl.certificate.location"] = str(login.certificate)
        found["ssl.key.location"] = str(login.certificate)
    if login.mechanism is not None:
        found["sasl.mechanism"] = login.mechanism
    if login.bearer is not None:
        found["oauth_cb"] = lambda _: _token(login.bearer_token)
    elif login.mechanism is not None:
        found |= {"sasl.username": login.user, "sasl.password": login.password}
    return found


def _token(text: str) -> tuple[str, float]:
    """As the callback returns it: with the time when it expires."""
    return text, jwt.decode(text, options={"verify_signature": False})["exp"]


@contextmanager
def _consumer(configs: dict[str, Any]) -> Iterator[Consumer]:
    consumer = Consumer(configs)
    try:
        yield consumer
    except KafkaException as error:
        _raise(error.args[0])
    finally:
        consumer.close()


def _value(message: Message) -> str:
    if error := message.error():
        _raise(error)
    value = message.value()
    assert value is not None
    return value.decode()


def _poll_until(is_done: Callable[[], bool], errors: list[KafkaError]) -> None:
    deadline = perf_counter() + TIMEOUT_S
    while not is_done():
        for error in errors:
            if error.code() not in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT):
                _raise(error)
        assert perf_counter() < deadline, f"nothing in {TIMEOUT_S:.0f} s: {errors}"


def _raise(error: KafkaError) -> NoReturn:
    if error.code() == KafkaError._AUTHENTICATION:
        raise LoginRefusedError(error.str())
    if error.code() == KafkaError._SSL:
        raise UntrustedError(error.str())
    raise RefusedError(error.code(), error.str())
