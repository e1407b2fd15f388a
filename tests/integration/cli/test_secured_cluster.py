"""`ottla cluster up --secure`: nodes with TLS, passwords and ACLs, and the commands for them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.cli.client_security.command_config import read_command_config
from ottla.client_security.sasl_login import JAAS
from tests.support.apply.killed_apply import kill_apply, slow_users
from tests.support.nodes.nodes import OTTLA

pytest.importorskip("cryptography")

SECONDS_MAX = 120.0
BOBS_PASSWORD = "bob's own password"


class SecuredCluster:
    """`ottla` as the user who made the cluster, whose profile it is."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.directory = home / "secured"
        self.said: list[str] = []

    def run(self, *arguments: str, stdin: str = "", exit_code: int = 0) -> str:
        """What went to standard output, or to standard error of a command that fails."""
        done = subprocess.run(
            [OTTLA, *arguments],
            env={**os.environ, "XDG_CONFIG_HOME": str(self.home / "config"), "COLUMNS": "200"},
            input=stdin,
            capture_output=True,
            check=False,
            text=True,
            timeout=SECONDS_MAX,
        )
        self.said += [done.stdout, done.stderr]
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stderr if exit_code else done.stdout

    def json(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run(*arguments, "--json").splitlines()]

    def with_login(self, name: str, *replaced: tuple[str, str]) -> str:
        """The option for client.properties with some texts replaced."""
        text = (self.directory / "client.properties").read_text()
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        file = self.home / f"{name}.properties"
        file.write_text(text)
        return f"--command-config={file}"

    @property
    def admin_password(self) -> str:
        config = read_command_config(self.directory / "client.properties")
        return config.properties[JAAS].split('password="')[1].partition('"')[0]

    def as_bob(self) -> str:
        return self.with_login(
            "bob", ('"admin"', '"bob"'), (f'"{self.admin_password}"', f'"{BOBS_PASSWORD}"')
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    cluster = SecuredCluster(tmp_path_factory.mktemp("secured"))
    place = ("--data-dir", str(cluster.directory))
    up = cluster.run("cluster", "up", "--secure", "--listen", "127.0.0.1:0", "--detach", *place)
    try:
        assert "Profile secured is in use now" in up
        cluster.run("topics", "create", "orders", "--partitions", "3")
        cluster.run("users", "set-password", "bob", "--password-file", "-", stdin=BOBS_PASSWORD)
        yield cluster
        secrets = (cluster.admin_password, BOBS_PASSWORD)
        logs = [file.read_text() for file in cluster.directory.glob("node-*/node.log")]
        texts = "".join((*cluster.said, *logs))
        assert not [secret for secret in secrets if secret in texts]
    finally:
        cluster.run("cluster", "down", *place)


def test_users_may_do_what_acls_allow(cluster: SecuredCluster) -> None:
    bob = cluster.as_bob()
    refused = cluster.run("produce", "orders", bob, stdin="hello\n", exit_code=1)
    assert "orders" in refused
    cluster.run("acls", "add", "--allow-principal", "User:bob", "--producer", "--topic", "orders")
    cluster.run("produce", "orders", bob, stdin="hello\n")
    assert "TOPIC_AUTHORIZATION_FAILED" in cluster.run("topics", "create", "x", bob, exit_code=1)
    assert "CLUSTER_AUTHORIZATION_FAILED" in cluster.run("acls", "list", bob, exit_code=1)
    cluster.run("acls", "remove", "--topic", "orders", "--yes")


def test_a_delegation_token_stands_for_its_owner(cluster: SecuredCluster) -> None:
    file = cluster.home / "token.properties"
    cluster.run("tokens", "create", "--owner", "User:bob", "--out", str(file))
    (token,) = cluster.json("tokens", "list")
    assert token["owner"] == "User:bob"
    refused = cluster.run("acls", "list", "--command-config", str(file), exit_code=1)
    assert "CLUSTER_AUTHORIZATION_FAILED" in refused
    # A token cannot be used to manage tokens; its requester cannot expire another's (KIP-373).
    again = cluster.run("tokens", "list", "--command-config", str(file), exit_code=1)
    assert "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" in again
    cluster.run("tokens", "expire", token["token_id"], cluster.as_bob())


@pytest.mark.parametrize("command", [("topics", "list"), ("quorum", "status")])
def test_a_wrong_password_is_reported_at_once(
    cluster: SecuredCluster, command: tuple[str, ...]
) -> None:
    wrong = cluster.with_login("wrong", (cluster.admin_password, "wrong"))
    assert "No secure connection" in cluster.run(*command, wrong, exit_code=3)


@pytest.mark.parametrize("command", [("topics", "list"), ("quorum", "status")])
def test_a_plaintext_client_of_a_tls_listener_gets_a_hint(
    cluster: SecuredCluster, command: tuple[str, ...]
) -> None:
    bootstrap = read_command_config(cluster.directory / "client.properties").bootstrap
    assert bootstrap is not None
    address = bootstrap.partition(",")[0]
    assert "it is TLS" in cluster.run(*command, "--bootstrap", address, exit_code=3)


def test_a_killed_apply_is_completed_by_the_next_one(cluster: SecuredCluster) -> None:
    password, file = cluster.home / "carol", cluster.home / "cluster.yaml"
    password.write_text(BOBS_PASSWORD)
    file.write_text(
        f"""
manages: {{acls: [applied-*], users: [slow-*], topics: [applied-*]}}
topics: {{applied-a: {{partitions: 2, replication_factor: 3}}, applied-b: }}
{slow_users(password)}
acls:
- {{resource_type: topic, name: applied-, pattern_type: prefixed, principal: "User:slow-00",
   operations: [read, write]}}
- {{resource_type: topic, name: applied-a, principal: "User:*", host: 192.0.2.1,
   operations: [all], permission: deny}}
"""
    )
    arguments = ("-f", str(file))
    environment = {"XDG_CONFIG_HOME": str(cluster.home / "config")}
    kill_apply(arguments, environment, after_changes=5)
    cluster.run("apply", *arguments, "--check", exit_code=1)
    assert "+ acl deny User:* all on topic applied-a" in cluster.said[-2]
    cluster.run("apply", *arguments, "--yes")
    assert cluster.json("apply", *arguments, "--check", "--prune") == []
    export = cluster.home / "export.yaml"
    export.write_text(cluster.run("export"))
    assert cluster.json("apply", "-f", str(export), "--check", "--prune") == []
    assert "CLUSTER_AUTHORIZATION_FAILED" in cluster.run("export", cluster.as_bob(), exit_code=1)
    file.write_text("manages: {acls: [applied-*], users: [slow-*], topics: [applied-*]}")
    cluster.run("apply", *arguments, "--prune", "--yes")
    assert "applied" not in cluster.run("export")


def test_a_killed_node_comes_back(cluster: SecuredCluster) -> None:
    place = ("--data-dir", str(cluster.directory))
    cluster.run("cluster", "kill", "2", *place)
    cluster.run("produce", "orders", stdin="hello\n")
    cluster.run("cluster", "restart", "2", *place)
