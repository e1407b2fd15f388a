"""No output of a node contains a secret: not its log, its audit log, its responses or its refusals.

Every secret in its configs, and every one that a client sends, contains the same mark, and all that
comes out is searched for the mark, plain and encoded.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from ottla.model import ErrorCode
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from ottla.wire.schema import Message
from tests.support.nodes.node_process import START_SECONDS_MAX
from tests.support.nodes.process_end import STOP_SECONDS_MAX
from tests.support.nodes.wire_connection import WireConnection, framed
from tests.support.security.tokens import Provider, bearer

MARK = "planted"
BROKER = 4
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
CLIENTS = "listener.name.clients."
SECURE = "listener.name.secure."


def secret(name: str) -> str:
    return f"{MARK}-{name}"


def _hidden_in(mark: str) -> list[bytes]:
    """The mark as it is, in hexadecimal, and in base64 at each of its three positions."""
    data = mark.encode()
    forms = [data, data.hex().encode()]
    for shift in range(3):
        encoded = base64.b64encode(b"?" * shift + data)
        # The characters that depend on the mark alone.
        forms.append(encoded[(shift * 8 + 5) // 6 : (shift + len(data)) * 8 // 6])
    return forms


FORMS = _hidden_in(MARK)


@dataclass
class Secured:
    """A running node, and what came out of it."""

    ports: list[int]
    responses: list[bytes] = field(default_factory=list)

    @contextmanager
    def client(self, listener: int) -> Iterator[WireConnection]:
        with WireConnection(("127.0.0.1", self.ports[listener])) as client:
            yield client

    def ask(self, client: WireConnection, request: Message, version: int) -> Any:
        response = client.send_request(request, version)
        self.responses.append(repr(response).encode())
        self.responses.append(response.encode(version))
        return response


def pem_key(scratch: Path) -> tuple[str, str]:
    """A private key that a password encrypts, and its certificates."""
    authority = trustme.CA(key_type=trustme.KeyType.ECDSA)
    issued = authority.issue_cert("localhost", key_type=trustme.KeyType.ECDSA)
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
    encrypted = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(secret("key-password").encode()),
    )
    return encrypted.decode(), issued.cert_chain_pems[0].bytes().decode()


def one_line(pem: str) -> str:
    return pem.strip().replace("\n", "\\n")


def configs(scratch: Path) -> dict[str, str]:
    key, certificate = pem_key(scratch)
    keys = scratch / "keys.json"
    keys.write_bytes(Provider().jwks)
    return {
        "log.dirs": str(scratch / "data"),
        "listeners": "PLAINTEXT://127.0.0.1:0,CLIENTS://127.0.0.1:0,SECURE://127.0.0.1:0",
        "listener.security.protocol.map": ("PLAINTEXT:PLAINTEXT,CLIENTS:SASL_PLAINTEXT,SECURE:SSL"),
        "inter.broker.listener.name": "PLAINTEXT",
        f"{CLIENTS}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        f"{CLIENTS}plain.sasl.jaas.config": f'{PLAIN_MODULE} user_alice="{secret("plain")}";',
        f"{CLIENTS}scram-sha-256.sasl.jaas.config": (
            f'{SCRAM_MODULE} username="node" password="{secret("scram")}";'
        ),
        f"{CLIENTS}oauthbearer.sasl.jaas.config": (
            f'{OAUTH_MODULE} clientId="node" clientSecret="{secret("oauth")}";'
        ),
        f"{CLIENTS}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": f"file://{keys}",
        f"{CLIENTS}oauthbearer.sasl.oauthbearer.client.credentials.client.secret": secret("client"),
        f"{SECURE}ssl.keystore.type": "PEM",
        f"{SECURE}ssl.keystore.key": one_line(key),
        f"{SECURE}ssl.keystore.certificate.chain": one_line(certificate),
        f"{SECURE}ssl.key.password": secret("key-password"),
        "delegation.token.secret.key": secret("token-key"),
        "ottla.audit.log": str(scratch / "audit.log"),
        # Unknown, and so perhaps a secret of something else.
        "company.vault.token": secret("vault"),
    }


def write_properties(scratch: Path, properties: dict[str, str]) -> Path:
    path = scratch / "server.properties"
    path.touch(mode=0o600)
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    return path


@contextmanager
def running(scratch: Path, properties: dict[str, str]) -> Iterator[Secured]:
    ottla = Path(sys.executable).with_name("ottla")
    with (scratch / "stderr.txt").open("wb") as stderr, (scratch / "stdout.txt").open("wb") as out:
        process = subprocess.Popen(
            [str(ottla), "start", "--verbose", "--config", write_properties(scratch, properties)],
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(b"Ready on "), (scratch / "stderr.txt").read_text()
            out.write(line)
            addresses = line.decode().removeprefix("Ready on ").split(" (")[0].split(", ")
            yield Secured([int(each.rpartition(":")[2]) for each in addresses])
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOP_SECONDS_MAX) == 0
        finally:
            process.kill()
            rest, _ = process.communicate()
            out.write(rest)


def say(listener: Secured, mechanism: str, *messages: bytes) -> list[int]:
    """The error codes of an exchange."""
    codes = []
    with listener.client(1) as client:
        codes.append(listener.ask(client, SaslHandshakeRequest(mechanism=mechanism), 1).error_code)
        for message in messages:
            request = SaslAuthenticateRequest(auth_bytes=message)
            codes.append(listener.ask(client, request, 2).error_code)
    return codes


def log_in_wrongly(node: Secured) -> None:
    failed = ErrorCode.SASL_AUTHENTICATION_FAILED
    for message in (
        f"\0alice\0{secret('wrong')}",
        # A password in place of the name, and without one.
        f"\0{secret('as-name')}\0x",
        secret("alone"),
        f"{secret('other')}\0alice\0{secret('plain')}",
    ):
        assert say(node, "PLAIN", message.encode())[-1] == failed
    for message in (f"n,,n={secret('user')},r=abc", f"n,,{secret('malformed')}"):
        say(node, "SCRAM-SHA-256", message.encode())
    final = f"c=biws,r=abc{secret('nonce')},p=AAAA".encode()
    say(node, "SCRAM-SHA-256", b"n,,n=alice,r=abc", final)
    token = Provider().token(now_ms=1_750_000_000_000, secret=secret("claim"))
    for text in (token, secret("token"), f"a.{secret('middle')}.c"):
        assert say(node, "OAUTHBEARER", bearer(text), b"\x01")[-1] == failed
    assert say(node, secret("mechanism"))[-1] == ErrorCode.UNSUPPORTED_SASL_MECHANISM


def send_malformed(node: Secured) -> None:
    """Requests that cannot be decoded, with secrets in them."""
    whole = framed(SaslAuthenticateRequest(auth_bytes=secret("cut").encode() * 9), 2)
    with node.client(1) as client:
        node.ask(client, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        # The last byte is of the next request.
        cut = (len(whole) - 5).to_bytes(4) + whole[4:-1]
        client.send(cut)
        node.responses.append(client.receive_end())
    with node.client(1) as client:
        client.send(secret("no-request").encode() * 3)
        client.finish()
        node.responses.append(client.receive_end())
    with node.client(2) as client:
        client.send(b"GET /?token=" + secret("http").encode() + b" HTTP/1.1\r\n\r\n")
        node.responses.append(client.receive_end())


def alter(node: Secured, client: WireConnection, name: str, value: str) -> int:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=BROKER,
                resource_name="1",
                configs=[AlterableConfig(name=name, value=value)],
            )
        ]
    )
    (result,) = node.ask(client, request, 1).responses
    code: int = result.error_code
    return code


def administrate(node: Secured) -> None:
    with node.client(0) as client:
        for documentation in (False, True):
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=BROKER, resource_name="1", configuration_keys=None
                    )
                ],
                include_synonyms=True,
                include_documentation=documentation,
            )
            (result,) = node.ask(client, request, 4).results
            assert result.error_code == 0
            names = {each.name for each in result.configs}
            assert "delegation.token.secret.key" in names
        upsertion = ScramCredentialUpsertion(
            name="alice",
            mechanism=1,
            iterations=4_096,
            salt=secret("salt").encode(),
            salted_password=secret("salted").ljust(32, "-").encode(),
        )
        upsert = AlterUserScramCredentialsRequest(upsertions=[upsertion])
        assert node.ask(client, upsert, 0).results[0].error_code == 0
        too_few = ScramCredentialUpsertion(
            name="bob",
            mechanism=1,
            iterations=1,
            salt=secret("salt").encode(),
            salted_password=secret("salted").ljust(32, "-").encode(),
        )
        upsert = AlterUserScramCredentialsRequest(upsertions=[too_few])
        assert node.ask(client, upsert, 0).results[0].error_code != 0
        node.ask(client, DescribeUserScramCredentialsRequest(users=None), 0)
        for name in (
            f"{SECURE}ssl.key.password",
            f"{SECURE}ssl.keystore.key",
            f"{CLIENTS}plain.sasl.jaas.config",
            "delegation.token.secret.key",
            "ssl.key.password",
            "sasl.jaas.config",
            "company.vault.token",
        ):
            alter(node, client, name, secret(f"dynamic-{name}"))


def outputs(scratch: Path, node: Secured) -> dict[str, bytes]:
    names = ("stdout.txt", "stderr.txt", "audit.log")
    found = {name: (scratch / name).read_bytes() for name in names}
    return found | {f"response {n}": data for n, data in enumerate(node.responses)}


def assert_nothing_planted(found: dict[str, bytes]) -> None:
    for name, data in found.items():
        for form in FORMS:
            position = data.find(form)
            around = data[max(0, position - 300) : position + 100]
            assert position < 0, f"{name} has a secret: {around!r}"


def test_search_finds_every_form() -> None:
    text = f"xy{MARK}z".encode()
    for shift in range(3):
        for encoded in (text, base64.b64encode(b"-" * shift + text), text.hex().encode()):
            with pytest.raises(AssertionError):
                assert_nothing_planted({"output": encoded})
    assert_nothing_planted({"output": b"nothing"})


def test_running_node_reveals_no_secret(tmp_path: Path) -> None:
    properties = configs(tmp_path)
    with running(tmp_path, properties) as node:
        assert say(node, "PLAIN", f"\0alice\0{secret('plain')}".encode()) == [0, 0]
        log_in_wrongly(node)
        send_malformed(node)
        administrate(node)
    found = outputs(tmp_path, node)
    assert_nothing_planted(found)
    # Something was written, and by the right ones.
    assert b"did not authenticate on CLIENTS" in found["stderr.txt"]
    assert b"TLS handshake failed: http request" in found["stderr.txt"]
    audited = [json.loads(line) for line in found["audit.log"].splitlines()]
    assert {entry["allowed"] for entry in audited} == {True, False}
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600
    key = properties[f"{SECURE}ssl.keystore.key"]
    for data in found.values():
        assert key[100:140].encode() not in data


@pytest.mark.parametrize(
    "change",
    [
        {f"{SECURE}ssl.key.password": secret("wrong-key-password")},
        {f"{SECURE}ssl.keystore.key": secret("no-pem")},
        {f"{SECURE}ssl.keystore.type": "PKCS12"},
        {f"{CLIENTS}plain.sasl.jaas.config": f'{PLAIN_MODULE} user_alice="{secret("open")};'},
        {f"{CLIENTS}plain.sasl.jaas.config": secret("no-module")},
        {f"{CLIENTS}plain.sasl.jaas.config": f'{SCRAM_MODULE} user_a="{secret("module")}";'},
        {
            f"{CLIENTS}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": (
                f"https://user:{secret('url')}@[::1/"
            )
        },
        {
            f"{CLIENTS}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": (
                f"http://user:{secret('url')}@localhost/"
            )
        },
    ],
)
def test_refused_start_reveals_no_secret(tmp_path: Path, change: dict[str, str]) -> None:
    ottla = Path(sys.executable).with_name("ottla")
    path = write_properties(tmp_path, configs(tmp_path) | change)
    ended = subprocess.run(
        [str(ottla), "start", "--verbose", "--config", str(path)],
        capture_output=True,
        timeout=START_SECONDS_MAX,
        env={**os.environ, "COLUMNS": "500"},
        check=False,
    )
    assert ended.returncode not in (0, -signal.SIGKILL)
    assert b"Traceback" not in ended.stderr
    assert_nothing_planted({"stdout": ended.stdout, "stderr": ended.stderr})
