"""`ottla apply` and `ottla export` against three nodes in this process, and Apache Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from benchmarks.versus.servers import KafkaServer, fresh
from ottla.cli.main import make_app
from ottla.testing import Cluster
from tests.conformance.kafka.process import reason_unavailable as no_kafka
from tests.support.apply.killed_apply import SLOW_USERS, kill_apply, slow_users
from tests.support.soak import IS_SOAK

ACLS = """
acls:
  - {resource_type: topic, name: orders, principal: "User:a", operations: [read, write]}
  - {resource_type: cluster, principal: "User:a", operations: [alter], permission: deny}
"""
FILE = """
manages: {topics: [pruned-*], groups: ["*"], users: ["*"], acls: ["*"], brokers: ["*"],
  quotas: ["*"], client_metrics: ["*"]}
cluster: {configs: {log.cleaner.threads: 2}}
brokers: {1: {configs: {log.cleaner.io.max.bytes.per.second: 1e9}}}
topics:
  orders:
    partitions: 3
    configs: {cleanup.policy: "compact, delete", retention.ms: 604800000}
  placed: {assignment: [[1], [1]]}
groups: {billing: {configs: {consumer.session.timeout.ms: 50000}}}
users:
  a: {password_env: PASSWORD, mechanisms: {SCRAM-SHA-512: , SCRAM-SHA-256: {iterations: 4096}}}
quotas:
  - {user: a, limits: {producer_byte_rate: 10MB, request_percentage: 12.5}}
  - {user: a, default: client_id, limits: {consumer_byte_rate: 5000000}}
  - {default: ip, limits: {connection_creation_rate: 20}}
client_metrics: {slow: {configs: {interval.ms: 60000, metrics: org.apache.kafka.producer.}}}
"""
# What Apache Kafka does not have.
OWN = """
cluster: {configs: {ottla.tenant.acme: "topics=5,partitions=100", ottla.tenant.beta: ""}}
quotas:
  - {default: user, limits: {topics_max: 5, retained_bytes_max: 10GB}}
"""
EMPTY = FILE.partition("cluster:")[0] + "cluster: {}\n"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


class Administrator:
    """`ottla apply` and `export`, with files from standard input."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {"OTTLA_BOOTSTRAP": bootstrap, "COLUMNS": "200", "PASSWORD": "secret"}

    def run(self, *arguments: str, text: str = "", exit_code: int = 0) -> Result:
        runner = CliRunner(env=self.environment)
        app = make_app(arguments[0])
        result = runner.invoke(app, arguments, input=text, catch_exceptions=False)
        assert result.exit_code == exit_code, result.output
        return result

    def apply(self, text: str, *options: str, exit_code: int = 0) -> Result:
        return self.run("apply", "-f", "-", *options, text=text, exit_code=exit_code)

    def export(self) -> str:
        return self.run("export").stdout

    def assert_same(self, text: str) -> None:
        assert "Nothing differs." in self.apply(text, "--check").stdout


@pytest.fixture(scope="module")
def administrator() -> Iterator[Administrator]:
    with Cluster(nodes=3) as cluster:
        yield Administrator(cluster.bootstrap)


def assert_full_circle(administrator: Administrator, text: str) -> None:
    """From an empty cluster to the file, to its export, and back."""
    before = administrator.export()
    differing = administrator.apply(text, "--check", exit_code=1)
    assert "+ topic orders" in differing.stdout
    assert administrator.export() == before
    applied = administrator.apply(text, "--yes")
    assert "Applied" in applied.stdout
    administrator.assert_same(text)
    export = administrator.export()
    assert "secret" not in export
    assert "cleanup.policy: compact,delete" in export
    assert "Nothing differs." in administrator.apply(export, "--check", "--prune").stdout
    kept = administrator.apply(EMPTY, "--check")
    assert "Kept" in kept.stderr
    administrator.apply(EMPTY.replace("pruned-*", "'*'"), "--prune", "--yes")
    assert administrator.export() == before


def test_a_cluster_becomes_what_the_file_says_and_is_emptied_again(
    administrator: Administrator,
) -> None:
    assert_full_circle(administrator, FILE + "---" + OWN)
    text = FILE + "---" + OWN.replace("partitions=100", "partitions=200")
    administrator.apply(FILE + "---" + OWN, "--yes")
    assert "~ ottla.tenant.acme" in administrator.apply(text, "--check", exit_code=1).stdout
    administrator.apply(text, "--yes")
    administrator.apply(EMPTY.replace("pruned-*", "'*'"), "--prune", "--yes")
    assert "tenant" not in administrator.export()


def test_replicas_are_moved_before_min_insync_replicas_is_raised(
    administrator: Administrator,
) -> None:
    administrator.apply("topics: {moved: {partitions: 2, replication_factor: 1}}", "--yes")
    grown = """
topics:
  moved: {partitions: 3, replication_factor: 3, configs: {min.insync.replicas: 2}}
"""
    lines = administrator.apply(grown, "--yes").stdout.splitlines()
    done = [line.partition("] ")[2] for line in lines if line.startswith("[")]
    assert done == [
        "began to move replicas of topic moved",
        "changed topic moved: partitions",
        "changed topic moved: min.insync.replicas",
    ]
    administrator.assert_same(grown)
    shrunk = grown.replace("factor: 3", "factor: 2").replace("replicas: 2", "replicas: 1")
    changes = json_lines(administrator.apply(shrunk, "--yes", "--json"))
    outcomes = [change for change in changes if "outcome" in change]
    assert outcomes[0]["changes"][0] == "min.insync.replicas"
    administrator.assert_same(shrunk)


def test_partitions_are_not_removed(administrator: Administrator) -> None:
    administrator.apply("topics: {kept: {partitions: 2}}", "--yes")
    refused = administrator.apply("topics: {kept: {partitions: 1}}", "--yes", exit_code=1)
    assert "stdin:1: topic kept has 2 partitions, and the file says 1" in refused.stderr
    assert "Nothing was changed." in refused.stderr


def test_what_the_cluster_would_refuse_is_found_before_anything_is_changed(
    administrator: Administrator,
) -> None:
    text = """
topics:
  good:
  bad: {configs: {cleanup.policy: never}}
  worse: {configs: {retention: 1}}
"""
    refused = administrator.apply(text, "--yes", exit_code=1)
    assert "stdin:4: Cannot create topic bad:" in refused.stderr
    assert "stdin:5: Cannot create topic worse:" in refused.stderr
    assert "  good:" not in administrator.export()


def test_nothing_is_changed_without_a_confirmation(administrator: Administrator) -> None:
    refused = administrator.apply("topics: {unconfirmed: }", exit_code=2)
    assert "Add --yes" in refused.stderr
    assert "unconfirmed" not in administrator.export()


def test_a_missing_password_is_a_mistake_with_its_line(administrator: Administrator) -> None:
    user = "users:\n  b: {password_env: UNSET, mechanisms: {SCRAM-SHA-512: }}\n"
    refused = administrator.apply(user, "--yes", exit_code=2)
    assert "stdin:2: the variable UNSET is not set" in refused.stderr
    without = user.replace("password_env: UNSET, ", "")
    assert "needs the password" in administrator.apply(without, "--yes", exit_code=1).stderr


def test_acls_need_an_authorizer(administrator: Administrator) -> None:
    refused = administrator.apply(ACLS, "--check", exit_code=1)
    assert "stdin:3: the cluster has no authorizer" in refused.stderr
    assert "no ACLs" in administrator.run("export").stderr


def test_a_killed_apply_is_completed_by_the_next_one(
    administrator: Administrator, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("secret\n")
    file = tmp_path / "cluster.yaml"
    text = 'manages: {topics: ["killed-*"]}\ntopics: {killed-a: {partitions: 2}, killed-b: }\n'
    file.write_text(text + slow_users(Path("password")))
    for changes in (2, 9):
        kill_apply(["-f", str(file)], administrator.environment, after_changes=changes)
    killed = administrator.export()
    assert "killed-b" in killed
    assert killed.count("slow-") < SLOW_USERS
    administrator.run("apply", "-f", str(file), "--yes")
    administrator.run("apply", "-f", str(file), "--check")
    assert administrator.export().count("slow-") == SLOW_USERS
    administrator.apply('manages: {users: ["slow-*"], topics: ["killed-*"]}', "--prune", "--yes")


def test_unreachable_clusters_and_missing_files_have_their_exit_codes() -> None:
    nowhere = Administrator("127.0.0.1:1")
    assert "connection refused" in nowhere.apply("topics: {a: }", exit_code=3).stderr
    missing = nowhere.run("apply", "-f", "/none.yaml", exit_code=2)
    assert "/none.yaml does not exist" in missing.stderr
    assert "stdin:1" in nowhere.apply("topic: ", exit_code=2).stderr


@contextmanager
def kafka() -> Iterator[Administrator]:
    with fresh(KafkaServer, AUTHORIZER) as server:
        server.start()
        yield Administrator(server.address)


@pytest.mark.java
@pytest.mark.skipif(bool(no_kafka()), reason="needs Apache Kafka's jars: make judge")
@pytest.mark.skipif(not IS_SOAK, reason="Apache Kafka takes ten seconds to start: OTTLA_SOAK=1")
def test_a_cluster_of_apache_kafka_becomes_what_the_file_says() -> None:
    with kafka() as administrator:
        assert_full_circle(administrator, FILE + ACLS)


def json_lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]
