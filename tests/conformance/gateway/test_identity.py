"""The cluster sees who calls: passwords, tokens and certificates reach a secured node."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.cli.client_security.jaas_text import PLAIN_MODULE, jaas_text
from ottla.configs.java_properties import format_properties
from tests.conformance.security.commands import OttlaCommands
from tests.conformance.security.logins import Login
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.population import ADMIN, CLOSED, Population
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

MESSAGE = {"key": "k", "value": "aGVsbG8="}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        yield node


@pytest.fixture(scope="module")
def population(node: SecuredNode) -> Population:
    population = Population(node)
    population.settle([OttlaCommands(node.home)])
    return population


@pytest.fixture(scope="module")
def command_config(node: SecuredNode, population: Population) -> Path:
    """The gateway's own connection: as a super user, who may create tokens for others."""
    file = node.home / "gateway.properties"
    login = {"username": ADMIN.user, "password": ADMIN.password}
    properties = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(node.certificates.truststore),
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": jaas_text(PLAIN_MODULE, login),
    }
    file.write_text(format_properties(properties))
    return file


@pytest.fixture(scope="module", params=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def mechanism(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def gateway(node: SecuredNode, command_config: Path, mechanism: str) -> Iterator[GatewayProcess]:
    options = [
        f"--command-config={command_config}",
        "--authentication=cluster",
        f"--sasl-mechanism={mechanism}",
    ]
    with running_gateway_process(node.endpoint().address, options) as gateway:
        yield gateway


def basic(login: Login, password: str | None = None) -> dict[str, str]:
    pair = f"{login.user}:{login.password if password is None else password}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def topic_of(login: Login) -> str:
    return f"{login.name}-{OttlaCommands.name}"


def assert_sees_its_own(gateway: GatewayProcess, login: Login, headers: dict[str, str]) -> None:
    topic, group = topic_of(login), f"{login.name}-readers"
    before = gateway.post(f"/topics/{topic}/messages", MESSAGE, headers)
    assert before["topic"] == topic
    refused = gateway.call("POST", f"/topics/{CLOSED}/messages", MESSAGE, headers)
    assert (refused.status, refused.json["error"]) == (403, "TOPIC_AUTHORIZATION_FAILED")
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic]}, headers)
    found = gateway.get(f"/consumers/{group}/poll?timeout_ms=10000", headers)["messages"]
    assert found[0]["value"] == MESSAGE["value"]


def test_a_password_reaches_the_cluster(
    gateway: GatewayProcess, population: Population, mechanism: str
) -> None:
    login = population.login(mechanism)
    assert_sees_its_own(gateway, login, basic(login))


def test_what_the_cluster_refuses_is_unauthorized(
    gateway: GatewayProcess, population: Population, mechanism: str
) -> None:
    login = population.login(mechanism)
    path = f"/topics/{topic_of(login)}/messages"
    headers: dict[str, str]
    for headers in (
        {},
        basic(login, "another password"),
        {"Authorization": "Basic ???"},
        {"Authorization": "Bearer abc"},
    ):
        answer = gateway.call("POST", path, MESSAGE, headers)
        assert answer.status == 401, answer.content
        assert answer.headers["www-authenticate"].startswith("Basic")
        assert "another password" not in answer.content.decode()
    assert gateway.call("GET", "/healthz").status == 200


def test_a_bearer_token_reaches_the_cluster(
    gateway: GatewayProcess, population: Population
) -> None:
    login = population.login("OAUTHBEARER")
    assert_sees_its_own(gateway, login, {"Authorization": f"Bearer {login.bearer_token}"})


def test_a_consumer_belongs_to_its_caller(
    gateway: GatewayProcess, population: Population, mechanism: str
) -> None:
    owner, other = population.login(mechanism), population.login("OAUTHBEARER")
    group = f"{owner.name}-own"
    headers = basic(owner)
    gateway.post(f"/consumers/{group}/subscribe", {"topics": [topic_of(owner)]}, headers)
    stranger = {"Authorization": f"Bearer {other.bearer_token}"}
    answer = gateway.call("GET", f"/consumers/{group}/poll", None, stranger)
    assert (answer.status, answer.json["error"]) == (404, "SESSION_NOT_FOUND")


def test_a_certificate_is_a_user_of_the_cluster(
    node: SecuredNode, command_config: Path, population: Population
) -> None:
    own = node.certificates.of_node("gateway")
    options = [
        f"--command-config={command_config}",
        f"--tls-certificate={own.certificate}",
        f"--tls-key={own.key}",
        f"--tls-client-ca={node.certificates.truststore}",
        "--principal-mapping=RULE:^CN=([a-z]+)$/$1/",
    ]
    mona = population.login("mutual-TLS")
    assert mona.certificate is not None
    with running_gateway_process(node.endpoint().address, options) as gateway:
        gateway.tls = ssl.create_default_context(cafile=str(node.certificates.truststore))
        gateway.tls.load_cert_chain(mona.certificate)
        assert_sees_its_own(gateway, mona, {})
        gateway.tls = ssl.create_default_context(cafile=str(node.certificates.truststore))
        with pytest.raises(OSError, match=r"(?i)certificate|reset|closed"):
            gateway.call("GET", "/topics")
    tokens = OttlaCommands(node.home).run(node.endpoint(), ADMIN, "tokens", "list", "--json")
    owners = [json.loads(line)["owner"] for line in tokens.splitlines()]
    assert "User:mona" in owners


def test_a_gateway_for_everyone_listens_on_loopback_only(node: SecuredNode) -> None:
    with (
        pytest.raises(AssertionError, match="did not start"),
        running_gateway_process("127.0.0.1:9", ["--listen=0.0.0.0:0"]),
    ):
        pass
