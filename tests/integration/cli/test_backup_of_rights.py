"""Users, ACLs, configs, quotas and tenants of a restored cluster are those of the backup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from tests.integration.cluster.cluster_view import create_topic
from tests.support.backup.restored_cluster import ottla, restore
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.secured_listeners import MECHANISM, set_password
from tests.support.security.acls import AUTHORIZER_CLASS

PASSWORDS = {"alice": "first", "bob": "second"}
PROPERTIES = {
    "authorizer.class.name": AUTHORIZER_CLASS,
    # The nodes themselves, and the administrator.
    "super.users": "User:ANONYMOUS",
    "min.insync.replicas": "1",
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT"
    ),
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.name.clients.sasl.enabled.mechanisms": str(MECHANISM.mechanism),
    "connection.failed.authentication.delay.ms": "0",
}
TIMEOUT_SECONDS = 30.0


class Secured:
    """A cluster of one node, with another listener for users."""

    def __init__(self, scratch: Path) -> None:
        self.cluster = ClusterProcesses(scratch, PROPERTIES, brokers=(1,), controllers=(1,))
        self.node: NodeOfCluster = self.cluster.brokers[0]
        listeners = (
            f"PLAINTEXT://{HOST}:{self.node.port},CONTROLLER://{HOST}:{self.node.controller_port},"
            f"CLIENTS://{HOST}:{self.node.internal_port}"
        )
        self.node.configure({"listeners": listeners})

    def written_by(
        self, user: str, password: str, topic: str, *, login_seconds: float = TIMEOUT_SECONDS
    ) -> int:
        """The code of the error that a user's write ends with; 0 if it is accepted."""
        producer = Producer(
            {
                "bootstrap.servers": f"{HOST}:{self.node.internal_port}",
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanisms": str(MECHANISM.mechanism),
                "sasl.username": user,
                "sasl.password": password,
                "log_level": 0,
                "message.timeout.ms": 10_000,
            }
        )
        ends: list[KafkaError | None] = []
        try:
            producer.list_topics(timeout=login_seconds)
        except KafkaException as error:
            found: KafkaError = error.args[0]
            return found.code()
        producer.produce(topic, b"x", on_delivery=lambda end, _message: ends.append(end))
        producer.flush(TIMEOUT_SECONDS)
        (end,) = ends
        return 0 if end is None else end.code()

    def ottla(self, *arguments: str) -> str:
        return ottla(*arguments, "--bootstrap", f"{HOST}:{self.node.port}").stdout

    def exported(self) -> str:
        return self.ottla("export")

    def topics_owned(self) -> list[float]:
        """How many topics the administrator has created, as each node with a limit shows it."""
        shown = self.ottla("quotas", "describe", "--user", "ANONYMOUS", "--json")
        usages = map(json.loads, shown.splitlines())
        return [each["used"] for each in usages if each["key"] == "topics_max"]


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    secured = Secured(tmp_path / "old")
    with secured.cluster as cluster:
        for topic in ("orders", "salaries"):
            create_topic(cluster, topic, [(1,)], {"retention.ms": "123456"})
        for name, password in PASSWORDS.items():
            set_password(cluster.admin, name, password)
        acl = AclBinding(
            ResourceType.TOPIC,
            "orders",
            ResourcePatternType.LITERAL,
            "User:alice",
            "*",
            AclOperation.WRITE,
            AclPermissionType.ALLOW,
        )
        # Kept until the response: without it, the request is cancelled.
        admin = AdminClient(cluster.admin)
        for created in admin.create_acls([acl]).values():
            created.result(TIMEOUT_SECONDS)
        yield secured
        cluster.stop()


def test_restored_cluster_has_the_users_and_acls_of_the_old_one(
    tmp_path: Path, secured: Secured
) -> None:
    secured.ottla("quotas", "set", "--user", "alice", "producer_byte_rate=10MB", "groups_max=7")
    secured.ottla("quotas", "set", "--default-user", "topics_max=100")
    secured.ottla("tenants", "create", "acme", "--partitions-max", "9")
    before, owned = secured.exported(), secured.topics_owned()
    expected = (*PASSWORDS, "orders", "salaries", "123456", "acls:", "groups_max: 7", "tenant.acme")
    for each in expected:
        assert each in before
    assert owned
    assert owned[0] >= 2
    ottla("backup", "--bootstrap", secured.cluster.bootstrap, "--to", str(tmp_path / "backup"))
    restored = Secured(tmp_path / "new")
    restore(restored.cluster, tmp_path / "backup")
    with restored.cluster:
        assert restored.exported() == before
        assert restored.topics_owned() == owned
        assert not restored.written_by("alice", "first", "orders")
        refused = restored.written_by("alice", "first", "salaries")
        assert refused in (
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
            KafkaError._UNKNOWN_TOPIC,
        )
        assert restored.written_by("bob", "second", "orders") == (
            KafkaError.TOPIC_AUTHORIZATION_FAILED
        )
        # The client logs in again and again.
        assert restored.written_by("alice", "second", "orders", login_seconds=1.0) != 0
        restored.cluster.assert_no_traceback()
