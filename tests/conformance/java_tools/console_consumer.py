"""kafka-console-consumer as a member of a group, in a process of its own that can be killed."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import Self

from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CLIENT_ID = "java"


class ConsoleConsumer:
    """Consumes during its `with`, unless it is killed before."""

    def __init__(self, bootstrap: str, group: str, topic: str, **properties: str) -> None:
        named = {name.replace("_", "."): value for name, value in properties.items()}
        arguments = [
            *("--bootstrap-server", bootstrap, "--group", group, "--topic", topic),
            *("--command-property", f"client.id={CLIENT_ID}"),
        ]
        for name, value in named.items():
            arguments += ["--command-property", f"{name}={value}"]
        self._process = subprocess.Popen(
            ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, CONSOLE_CONSUMER, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """It ends without leaving its group."""
        self._process.kill()
        self._process.wait()
