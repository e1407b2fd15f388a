"""One secured node with a listener for each way to connect to it, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ottla.cli.client_security.jaas_text import PLAIN_MODULE, jaas_text
from ottla.configs.java_properties import format_properties
from ottla.runtime.system_clock import SystemClock
from tests.conformance.security.certificates import STORE_PASSWORD, Certificates
from tests.conformance.security.logins import Endpoint, Protocol
from tests.support.nodes.cluster_processes import free_ports
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.nodes import OTTLA
from tests.support.security.tokens import AUDIENCE, ISSUER, Provider

PROPERTIES: Final = "server.properties"
STDERR: Final = "stderr.txt"
READY_SECONDS_MAX: Final = 60.0
# Short, so that sessions end while a test runs; clients authenticate again before that.
REAUTH_MS: Final = 1_500
PASSWORDS: Final = {
    "admin": "the admin's password",
    "paula": "paula's = password, with \\ and \" in it",
}
ALL_MECHANISMS: Final = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
# Kafka's names of the listeners, and their protocols.
LISTENERS: Final[Mapping[str, Protocol]] = {
    "CLIENTS": "SASL_SSL",
    "TLS12": "SASL_SSL",
    "TLS13": "SASL_SSL",
    "MUTUAL": "SSL",
    "NOTLS": "SASL_PLAINTEXT",
    "REAUTH": "SASL_SSL",
    "ELSEWHERE": "SASL_SSL",
}


class SecuredNode:
    """Started by `running_node`. Its files are in `home`; `properties` can be changed before."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.certificates = Certificates(home / "certs")
        self.provider = Provider()
        self.audit_log = home / "audit.log"
        self._ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
        self.properties = self._common() | self._stores() | self._sasl()

    def endpoint(self, listener: str = "CLIENTS", *, host: str = HOST) -> Endpoint:
        return Endpoint(
            f"{host}:{self._ports[listener]}", LISTENERS[listener], self.certificates.truststore
        )

    def bearer_token(self, user: str) -> Path:
        path = self.home / f"{user}.jwt"
        path.write_text(self.provider.token(now_ms=SystemClock().now_ms(), sub=user))
        return path

    @property
    def log(self) -> str:
        return (self.home / STDERR).read_text()

    def authentications(self, listener: str) -> list[dict[str, Any]]:
        """What the audit log says about those on a listener."""
        if not self.audit_log.exists():
            return []
        # What follows the last line is still being written.
        lines = self.audit_log.read_text().split("\n")[:-1]
        entries = [json.loads(line) for line in lines]
        return [
            entry
            for entry in entries
            if entry["event"] == "authentication" and entry["listener"] == listener
        ]

    def _common(self) -> dict[str, str]:
        addresses = [f"{name}://{HOST}:{port}" for name, port in self._ports.items()]
        return {
            "log.dirs": str(self.home / "data"),
            "listeners": ",".join(addresses),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in LISTENERS.items()
            ),
            "inter.broker.listener.name": "CLIENTS",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:admin",
            "delegation.token.secret.key": "the key of tokens",
            "ottla.audit.log": str(self.audit_log),
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            "ssl.principal.mapping.rules": r"RULE:^CN=([a-z]+)$/$1/,DEFAULT",
        }

    def _stores(self) -> dict[str, str]:
        """PEM texts with TLS 1.2, a PKCS#12 file with TLS 1.3, and PEM files for all others, one of
        which has the certificate of another host."""
        own = self.certificates.of_node("node")
        elsewhere = self.certificates.of_node("elsewhere", "elsewhere.example")
        found = {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.truststore),
            "listener.name.mutual.ssl.client.auth": "required",
            "listener.name.tls12.ssl.enabled.protocols": "TLSv1.2",
            "listener.name.tls12.ssl.keystore.type": "PEM",
            "listener.name.tls12.ssl.keystore.key": own.key.read_text(),
            "listener.name.tls12.ssl.keystore.certificate.chain": own.certificate.read_text(),
            "listener.name.tls13.ssl.enabled.protocols": "TLSv1.3",
            "listener.name.tls13.ssl.keystore.type": "PKCS12",
            "listener.name.tls13.ssl.keystore.location": str(own.pkcs12),
            "listener.name.tls13.ssl.keystore.password": STORE_PASSWORD,
        }
        for listener in ("clients", "mutual", "reauth", "elsewhere"):
            store = elsewhere if listener == "elsewhere" else own
            found[f"listener.name.{listener}.ssl.keystore.type"] = "PEM"
            found[f"listener.name.{listener}.ssl.keystore.location"] = str(store.keystore)
        return found

    def _sasl(self) -> dict[str, str]:
        keys = self.home / "keys.json"
        keys.write_bytes(self.provider.jwks)
        users = {f"user_{name}": password for name, password in PASSWORDS.items()}
        found = {
            "sasl.enabled.mechanisms": ALL_MECHANISMS,
            "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "sasl.oauthbearer.expected.issuer": ISSUER,
            "listener.name.reauth.connections.max.reauth.ms": str(REAUTH_MS),
        }
        for listener, protocol in LISTENERS.items():
            if protocol.startswith("SASL"):
                prefix = f"listener.name.{listener.lower()}.plain"
                found[f"{prefix}.sasl.jaas.config"] = jaas_text(PLAIN_MODULE, users)
        return found


@contextmanager
def running(node: SecuredNode) -> Iterator[SecuredNode]:
    write_properties(node.home, format_properties(node.properties))
    with started(node.home):
        yield node


@contextmanager
def started(home: Path) -> Iterator[Path]:
    """Runs a node with the properties in `home`; the file in which its standard error is. Shows it
    if the node does not start, does not end well, or had an exception that it did not expect."""
    errors = home / STDERR
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [OTTLA, "start", "--config", home / PROPERTIES],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "COLUMNS": "200"},
        )
    try:
        assert process.stdout is not None
        watchdog = threading.Timer(READY_SECONDS_MAX, process.kill)
        watchdog.start()
        line = process.stdout.readline()
        watchdog.cancel()
        assert line.startswith("Ready on "), errors.read_text()
        yield errors
        process.send_signal(signal.SIGTERM)
        assert process.wait(READY_SECONDS_MAX) == 0, errors.read_text()
        assert "Traceback" not in errors.read_text(), errors.read_text()[-8_000:]
    finally:
        process.kill()
        process.communicate()


def write_properties(home: Path, text: str) -> None:
    path = home / PROPERTIES
    path.touch(mode=0o600)
    path.write_text(text)
