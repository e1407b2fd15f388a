"""Apache Kafka's own client, and its command line tools."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ottla.configs.java_properties import format_properties
from ottla.model import ErrorCode
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.java_tools.client import Java, Ran
from tests.conformance.security.clients import LoginRefusedError, RefusedError, UntrustedError
from tests.conformance.security.logins import Endpoint, Login, kafka_properties

# It reads tokens from nowhere else, so that a config cannot make it read any file.
ALLOWED: Final = "org.apache.kafka.sasl.oauthbearer.allowed"

_TOOLS: Final = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
}


class JavaSecuredClient:
    name = "java"

    def __init__(self, java: Java) -> None:
        self._java = java

    def why_not(self, login: Login) -> str | None:
        return None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        self.produce_with(self.configs(endpoint, login), topic, values)

    def produce_with(self, configs: Mapping[str, str], topic: str, values: Sequence[str]) -> None:
        messages: list[dict[str, Any]] = [
            {"key": None, "value": b64encode(value.encode()).decode(), "headers": []}
            for value in values
        ]
        for result in self._java.send_command(
            "produce", topic=topic, messages=messages, configs=configs
        ):
            _raise_error(result)

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        own = {"group.id": group, "auto.offset.reset": "earliest", "fetch.max.wait.ms": "20"}
        result = self._java.send_command(
            "consume-in-group",
            topic=topic,
            count=count,
            timeout_ms=int(TIMEOUT_S * 1_000),
            configs=self.configs(endpoint, login) | own,
        )
        _raise_error(result)
        values: list[str] = result["values"]
        return values

    def configs(self, endpoint: Endpoint, login: Login) -> dict[str, str]:
        """Permits this process to read the login's token, too."""
        if login.bearer is not None and login.token_endpoint is None:
            allowed = {
                f"{ALLOWED}.files": str(login.bearer),
                f"{ALLOWED}.urls": login.bearer.as_uri(),
            }
            self._java.send_command("set", properties=allowed)
        return kafka_properties(endpoint, login)


def _raise_error(result: Mapping[str, Any]) -> None:
    if "error" not in result:
        return
    if "SslAuthenticationException" in result["error"]:
        raise UntrustedError(result["error"])
    if result["error_code"] == ErrorCode.SASL_AUTHENTICATION_FAILED:
        raise LoginRefusedError(result["error"])
    raise RefusedError(result["error_code"], result["error"])


class JavaTools:
    """Properties are written below `scratch`."""

    def __init__(self, java: Java, scratch: Path) -> None:
        self._java = java
        self._scratch = scratch

    def run(
        self, endpoint: Endpoint, login: Login, tool: str, *arguments: str, stdin: str = ""
    ) -> Ran:
        file = self._scratch / f"java-{login.name}.properties"
        file.write_text(format_properties(kafka_properties(endpoint, login)))
        where = ("--bootstrap-server", endpoint.address, "--command-config", str(file))
        return self._java.run(_TOOLS[tool], *where, *arguments, stdin=stdin)

    def __call__(
        self, endpoint: Endpoint, login: Login, tool: str, *arguments: str, stdin: str = ""
    ) -> str:
        """What a tool prints that succeeds."""
        ran = self.run(endpoint, login, tool, *arguments, stdin=stdin)
        assert ran.status == 0, ran.stdout + ran.stderr
        return ran.stdout
