"""Callers of a registry that checks them at the cluster: who they are, and what they may do."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.runtime.system_clock import SystemClock
from ottla.security.acls.acl import AclOperation, ResourceType
from tests.support.nodes.cluster_processes import wait_until
from tests.support.registry.registry_processes import RegistryProcess, running_registries
from tests.support.security.attacked_node import BOBS_PASSWORD, PASSWORD, TOPIC, AttackedNode
from tests.support.web.gateway_process import running_gateway_process

TEXT = '"string"'


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    with AttackedNode(tmp_path_factory.mktemp("node")) as node:
        node.prepare()
        yield node


@pytest.fixture(scope="module")
def client_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """How alice connects to the node."""
    file = tmp_path_factory.mktemp("registry") / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        "sasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="alice" password="{PASSWORD}";\n'
    )
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def registry(node: AttackedNode, client_config: Path) -> Iterator[RegistryProcess]:
    host, port = node.address_of("CLIENTS")
    options = ("--authentication", "cluster", "--command-config", str(client_config))
    with running_registries(f"{host}:{port}", 1, *options) as (registry,):
        yield registry


def basic(user: str, password: str) -> dict[str, str]:
    credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {credentials}"}


ALICE = basic("alice", PASSWORD)
BOB = basic("bob", BOBS_PASSWORD)


def register(registry: RegistryProcess, subject: str, headers: dict[str, str]) -> int:
    path = f"/subjects/{subject}/versions"
    return registry.ask("POST", path, {"schema": TEXT}, **headers).status


def test_nobody_is_served_without_the_clusters_consent(registry: RegistryProcess) -> None:
    assert registry.ask("GET", "/subjects").status == 401
    assert registry.ask("GET", "/subjects", **basic("alice", "wrong")).status == 401
    assert registry.ask("GET", "/subjects", authorization="Bearer nonsense").status == 401
    assert register(registry, "refused", {}) == 401
    assert registry.ask("GET", "/healthz").status == 200


def test_requests_with_a_wrong_password_are_not_logins(
    registry: RegistryProcess, node: AttackedNode
) -> None:
    def failures() -> int:
        entries = map(json.loads, node.audit_log.read_text().splitlines())
        return sum(
            each["event"] == "authentication" and each["principal"] is None for each in entries
        )

    before = failures()
    mallory = basic("mallory", "a password")
    for _ in range(20):
        assert registry.ask("GET", "/subjects", **mallory).status == 401
    assert registry.ask("GET", "/subjects", **basic("mallory", "another")).status == 401
    # One for each password; the time of a refusal may end once meanwhile.
    wait_until(lambda: failures() - before >= 2, "the node has logged both")
    assert failures() - before <= 4
    assert registry.ask("GET", "/subjects", **ALICE).status == 200


def test_a_users_rights_on_the_topic_are_his_rights_here(
    registry: RegistryProcess, node: AttackedNode
) -> None:
    assert register(registry, "allowed", ALICE) == 200
    assert registry.ask("GET", "/subjects", **ALICE).body == ["allowed"]
    # Bob is known, and has no rights.
    assert registry.ask("GET", "/subjects", **BOB).status == 403
    assert register(registry, "refused", BOB) == 403
    assert registry.ask("GET", "/subjects", **ALICE).body == ["allowed"]


def test_a_gateway_has_credentials_for_the_registry(
    registry: RegistryProcess, node: AttackedNode, client_config: Path, tmp_path: Path
) -> None:
    config = tmp_path / "registry.properties"
    config.write_text(
        f"basic.auth.credentials.source=USER_INFO\nbasic.auth.user.info=alice:{PASSWORD}\n"
    )
    config.chmod(0o600)
    host, port = node.address_of("CLIENTS")
    options = [f"--command-config={client_config}", f"--schema-registry={registry.url}"]
    record = {"value_schema": TEXT, "records": [{"value": "text"}]}
    avro = {"Content-Type": "application/vnd.kafka.avro.v2+json"}
    with (
        running_gateway_process(f"{host}:{port}", options) as stranger,
        running_gateway_process(
            f"{host}:{port}", [*options, f"--schema-registry-config={config}"]
        ) as gateway,
    ):
        refused = stranger.call("POST", f"/topics/{TOPIC}", record, avro)
        assert (refused.status, b"credentials are required" in refused.content) == (408, True)
        assert gateway.post(f"/topics/{TOPIC}", record, avro)["value_schema_id"] > 0


def test_a_token_is_checked_by_the_cluster(registry: RegistryProcess, node: AttackedNode) -> None:
    node.allow("User:carol", AclOperation.READ, ResourceType.TOPIC)
    token = node.provider.token(now_ms=SystemClock().now_ms(), sub="carol")
    carol = {"authorization": f"Bearer {token}"}
    assert registry.ask("GET", "/subjects", **carol).status == 200
    assert register(registry, "refused", carol) == 403
