"""Both sides with a TLS listener for the loads, beside the one that topics are made through."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, free_port, fresh


class TlsListener(Server):
    """Expects the settings of its certificate among its configs."""

    @cached_property
    def load_address(self) -> str:
        return f"127.0.0.1:{free_port()}"

    def client_listeners(self) -> str:
        return f"{super().client_listeners()},SSL://{self.load_address}"


class TlsKafkaServer(TlsListener, KafkaServer): ...


class TlsOttlaServer(TlsListener, OttlaServer): ...


class Certificates:
    """An authority, and a certificate that it signed for loopback, the same on both sides."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        for arguments in (("ca",), ("server", "localhost", "127.0.0.1")):
            self._make(*arguments)

    @property
    def authority(self) -> Path:
        return self._directory / "ca.pem"

    def server_configs(self) -> dict[str, str]:
        keystore = self._directory / "localhost.keystore.pem"
        return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(keystore)}

    def client_settings(self) -> tuple[str, ...]:
        """For librdkafka."""
        return ("security.protocol=ssl", f"ssl.ca.location={self.authority}")

    def java_settings(self) -> dict[str, str]:
        return {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority),
        }

    def _make(self, *arguments: str) -> None:
        ottla = Path(sys.executable).with_name("ottla")
        command = [str(ottla), "certs", *arguments, "--out", str(self._directory)]
        subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def certificates() -> Iterator[Certificates]:
    with tempfile.TemporaryDirectory(prefix="versus-certificates-") as directory:
        yield Certificates(Path(directory))


def with_tls(
    kind: type[Server], certificates: Certificates
) -> contextlib.AbstractContextManager[Server]:
    return fresh(kind, certificates.server_configs())
