"""Apache Kafka's client and tools, with each mechanism over TLS; all in one Java process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.java_tools.client import Java
from tests.conformance.security.certificates import STORE_PASSWORD, Certificates
from tests.conformance.security.clients import LoginRefusedError, UntrustedError
from tests.conformance.security.confluent import LastingConfluentClient
from tests.conformance.security.java import ALLOWED, JavaSecuredClient, JavaTools
from tests.conformance.security.logins import Login
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.population import ADMIN, KINDS, SUE, Population
from tests.conformance.security.usage import VALUES, assert_allowed, assert_refused, own_name
from tests.support.security.web_server import WebServer, ok

pytestmark = pytest.mark.java

REAUTHENTICATIONS = 2
INVALID = "invalid credentials"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        yield node


@pytest.fixture(scope="module")
def client(java: Java) -> JavaSecuredClient:
    return JavaSecuredClient(java)


@pytest.fixture(scope="module")
def population(node: SecuredNode, client: JavaSecuredClient) -> Population:
    population = Population(node)
    population.settle([client])
    return population


@pytest.fixture
def tools(java: Java, node: SecuredNode) -> JavaTools:
    return JavaTools(java, node.home)


@pytest.mark.parametrize("kind", KINDS)
def test_users_may_do_what_acls_allow_and_no_more(
    client: JavaSecuredClient, population: Population, kind: str
) -> None:
    login = population.login(kind)
    endpoint = population.endpoint(login)
    assert_allowed(client, endpoint, login)
    assert_refused(client, endpoint, login)


@pytest.mark.parametrize("listener", ["TLS12", "TLS13", "NOTLS"])
def test_versions_and_stores_of_listeners_serve_alike(
    client: JavaSecuredClient, population: Population, node: SecuredNode, listener: str
) -> None:
    client.produce(node.endpoint(listener, host="localhost"), SUE, own_name(client, SUE), VALUES)


def test_pkcs12_store_of_a_client_serves_as_well(
    client: JavaSecuredClient, population: Population
) -> None:
    login = population.login("PKCS#12")
    client.produce(population.endpoint(login), login, own_name(client, login), VALUES)


def test_certificate_of_another_host_is_refused_by_the_client(
    client: JavaSecuredClient, population: Population, node: SecuredNode
) -> None:
    elsewhere, topic = node.endpoint("ELSEWHERE"), own_name(client, SUE)
    with pytest.raises(UntrustedError):
        client.produce(elsewhere, SUE, topic, VALUES)
    client.produce(replace(elsewhere, verifies_host=False), SUE, topic, VALUES)


def test_wrong_password_is_refused(
    client: JavaSecuredClient, population: Population, node: SecuredNode
) -> None:
    wrong = replace(SUE, password="wrong")
    with pytest.raises(LoginRefusedError, match=INVALID):
        client.produce(node.endpoint(), wrong, own_name(client, SUE), VALUES)


def test_token_comes_from_an_endpoint(
    java: Java, client: JavaSecuredClient, population: Population, node: SecuredNode
) -> None:
    """By the client credentials grant."""
    login = population.login("OAUTHBEARER")
    answer = json.dumps({"access_token": login.bearer_token, "expires_in": 3_600})
    with WebServer(ok(answer.encode()), has_tls=False) as server:
        url = server.url().replace("https://localhost", "http://127.0.0.1")
        java.send_command("set", properties={f"{ALLOWED}.urls": url})
        configs = client.configs(node.endpoint(), replace(login, token_endpoint=url))
        client.produce_with(configs, own_name(client, login), VALUES)
    assert server.requests


def test_sessions_are_outlived_without_loss(
    java: Java, client: JavaSecuredClient, population: Population, node: SecuredNode
) -> None:
    population.create_topics(["sue-sessions"])
    own = {
        "group.id": "sue-sessions",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": "20",
    }
    outlived = java.send_command(
        "outlive-sessions",
        topic="sue-sessions",
        reauthentications=REAUTHENTICATIONS,
        timeout_ms=int(TIMEOUT_S * 1_000),
        configs=client.configs(node.endpoint("REAUTH"), SUE) | own,
    )
    assert outlived["reauthentications"] >= REAUTHENTICATIONS
    assert outlived["received"] == outlived["sent"]


def test_tools_manage_users_and_acls(tools: JavaTools, node: SecuredNode) -> None:
    clients, zoe = node.endpoint(), Login("zoe", "SCRAM-SHA-256", "zoe", "zoe's password")
    user = ("--alter", "--entity-type", "users", "--entity-name", "zoe")
    credential = f"SCRAM-SHA-256=[iterations=4096,password={zoe.password}]"
    tools(clients, ADMIN, "kafka-configs", *user, "--add-config", credential)
    create = ("kafka-topics", "--create", "--topic", "zoe-orders")
    assert "may not CREATE TOPIC zoe-orders" in tools.run(clients, zoe, *create).stdout
    tools(clients, ADMIN, *create)
    rights = ("--producer", "--consumer", "--topic", "zoe-orders", "--group", "zoe-group")
    add = ("--add", "--allow-principal", "User:zoe", *rights)
    assert "operation=WRITE" in tools(clients, ADMIN, "kafka-acls", *add)
    produce = ("kafka-console-producer", "--topic", "zoe-orders")
    tools(clients, zoe, *produce, stdin="".join(f"{value}\n" for value in VALUES))
    limits = ("--from-beginning", "--max-messages", str(len(VALUES)), "--timeout-ms", "20000")
    consume = ("kafka-console-consumer", "--topic", "zoe-orders", "--group", "zoe-group", *limits)
    assert tools(clients, zoe, *consume).splitlines() == VALUES
    listing = ("kafka-acls", "--list", "--principal", "User:zoe")
    assert "name=zoe-orders" in tools(clients, ADMIN, *listing)
    remove = ("--remove", "--force", "--topic", "zoe-orders", "--group", "zoe-group")
    tools(clients, ADMIN, "kafka-acls", *remove)
    assert "name=zoe-orders" not in tools(clients, ADMIN, *listing)
    tools(clients, ADMIN, "kafka-configs", *user, "--delete-config", "SCRAM-SHA-256")
    assert INVALID in tools.run(clients, zoe, "kafka-topics", "--list").stdout


def test_tools_manage_delegation_tokens(
    tools: JavaTools, population: Population, node: SecuredNode
) -> None:
    clients = node.endpoint()
    create = ("--create", "--max-life-time-period", "-1", "--renewer-principal", "User:sue")
    created = tools(clients, SUE, "kafka-delegation-tokens", *create)
    token_id, hmac = created.splitlines()[-1].split()[:2]
    token = Login("sue", "SCRAM-SHA-512", token_id, hmac, is_token=True)
    assert "sue-java" in tools(clients, token, "kafka-topics", "--list")
    describe = ("--describe", "--owner-principal", "User:sue")
    assert token_id in tools(clients, SUE, "kafka-delegation-tokens", *describe)
    renew = ("--renew", "--renew-time-period", "60000", "--hmac", hmac)
    tools(clients, SUE, "kafka-delegation-tokens", *renew)
    expire = ("--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    tools(clients, SUE, "kafka-delegation-tokens", *expire)
    assert INVALID in tools.run(clients, token, "kafka-topics", "--list").stdout


def test_certificate_is_replaced_by_a_dynamic_config(
    client: JavaSecuredClient, tools: JavaTools, population: Population, node: SecuredNode
) -> None:
    """New connections get the new certificate, and open ones go on."""
    elsewhere, topic = node.endpoint("ELSEWHERE"), own_name(client, SUE)
    new = Certificates(node.home / "new")
    prefix = "listener.name.elsewhere.ssl.keystore"
    before = LastingConfluentClient(replace(elsewhere, verifies_host=False), SUE, topic)
    before.send("before")
    configs = f"{prefix}.type=PKCS12,{prefix}.location={new.of_node('node').pkcs12}"
    broker = ("--alter", "--entity-type", "brokers", "--entity-name", "1", "--add-config")
    ran = tools.run(node.endpoint(), ADMIN, "kafka-configs", *broker, configs)
    assert "ssl.keystore.password" in ran.stderr
    configs += f",{prefix}.password={STORE_PASSWORD}"
    tools(node.endpoint(), ADMIN, "kafka-configs", *broker, configs)
    with pytest.raises(UntrustedError):
        client.produce(elsewhere, SUE, topic, VALUES)
    client.produce(replace(elsewhere, truststore=new.truststore), SUE, topic, VALUES)
    before.send("after")
    before.close()
