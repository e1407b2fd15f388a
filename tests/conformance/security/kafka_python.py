"""kafka-python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from time import perf_counter
from typing import Any, Final

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.kafka_python.client import (
    KafkaConsumer,
    KafkaProducer,
    KafkaPythonClient,
    errors,
)
from tests.conformance.security.clients import (
    NO_TOKENS,
    LoginRefusedError,
    RefusedError,
    UntrustedError,
)
from tests.conformance.security.log_capture import captured_log
from tests.conformance.security.logins import Endpoint, Login

_GROUP_CONFIGS: Final[Mapping[str, Any]] = {
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "fetch_max_wait_ms": 50,
}
# Returns as soon as there are records. Not short: a join that ends after a poll is lost.
_POLL_MS: Final = 10_000
# For how long a client tries to connect that cannot.
_SHORT_MS: Final = 1_000


class KafkaPythonSecuredClient:
    name = "kafka-python"

    def __init__(self, bootstrap_timeout_ms: int = 30_000) -> None:
        self._bootstrap_timeout_ms = bootstrap_timeout_ms

    def why_not(self, login: Login) -> str | None:
        return f"kafka-python {NO_TOKENS}" if login.is_token else None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        client = KafkaPythonClient(endpoint.address)
        with _translated_errors(), client.producer(**self._configs(endpoint, login)) as producer:
            for sent in [producer.send(topic, value.encode()) for value in values]:
                sent.get(TIMEOUT_S)

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        found: list[str] = []
        own = {"group_id": group, **_GROUP_CONFIGS}
        client = KafkaPythonClient(endpoint.address)
        with (
            _translated_errors(),
            client.consumer(**self._configs(endpoint, login), **own) as consumer,
        ):
            consumer.subscribe([topic])
            deadline = perf_counter() + TIMEOUT_S
            while len(found) < count:
                assert perf_counter() < deadline, f"{len(found)} of {count} records"
                found += _poll(consumer)
            consumer.commit()
        return found

    def _configs(self, endpoint: Endpoint, login: Login) -> dict[str, Any]:
        return configs(endpoint, login) | {"bootstrap_timeout_ms": self._bootstrap_timeout_ms}


class DoomedKafkaPythonClient(KafkaPythonSecuredClient):
    """Cannot connect. In a process of its own, because it leaves its sockets open then."""

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        produce = KafkaPythonSecuredClient(_SHORT_MS).produce
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
            processes.submit(produce, endpoint, login, topic, values).result()


class LastingKafkaPythonClient:
    def __init__(self, endpoint: Endpoint, login: Login, topic: str) -> None:
        self._topic = topic
        where = {"bootstrap_servers": endpoint.address, **configs(endpoint, login)}
        self._producer = KafkaProducer(**where)
        self._consumer = KafkaConsumer(topic, **where, group_id=topic, **_GROUP_CONFIGS)

    def send(self, value: str) -> None:
        self._producer.send(self._topic, value.encode()).get(TIMEOUT_S)

    def receive(self) -> list[str]:
        return _poll(self._consumer)

    def close(self) -> None:
        self._consumer.close()
        self._producer.close()


def _poll(consumer: Any) -> list[str]:
    polled = consumer.poll(_POLL_MS).values()
    return [record.value.decode() for records in polled for record in records]


def configs(endpoint: Endpoint, login: Login) -> dict[str, Any]:
    found: dict[str, Any] = {"security_protocol": endpoint.protocol}
    if endpoint.has_tls:
        found["ssl_cafile"] = str(endpoint.truststore)
        found["ssl_check_hostname"] = endpoint.verifies_host
    if login.certificate is not None:
        found["ssl_certfile"] = found["ssl_keyfile"] = str(login.certificate)
    if login.mechanism is not None:
        found["sasl_mechanism"] = login.mechanism
    if login.bearer is not None:
        found["sasl_oauth_token_provider"] = _provider(login.bearer_token)
    elif login.mechanism is not None:
        found |= {"sasl_plain_username": login.user, "sasl_plain_password": login.password}
    return found


def _provider(text: str) -> Any:
    from kafka.net.sasl.oauth import AbstractTokenProvider  # type: ignore[import-untyped]

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return text

    return Provider()


@contextmanager
def _translated_errors() -> Iterator[None]:
    """While it cannot connect, it tries again, and says why only in its log."""
    with captured_log("kafka") as lines:
        try:
            yield
        except errors.KafkaTimeoutError as error:
            reasons = "\n".join(lines)
            if "SaslAuthenticationFailedError" in reasons:
                raise LoginRefusedError(reasons) from error
            if "CERTIFICATE_VERIFY_FAILED" in reasons:
                raise UntrustedError(reasons) from error
            raise
        except errors.BrokerResponseError as error:
            raise RefusedError(error.errno, str(error)) from error
