"""The source and the sink on a cluster with TLS and SASL, called as Spark calls them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from ottla.cli.client_security.jaas_text import PLAIN_MODULE, jaas_text
from ottla.model import TopicPartition
from ottla.pipeline.reading.columns import SourceColumn
from ottla.pipeline.reading.data_source import OttlaReader, OttlaStreamReader
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.reading.options import parse_options
from ottla.runtime.system_clock import SystemClock
from tests.conformance.security.node import PASSWORDS, SecuredNode, running
from tests.support.security.certificates import Authority
from tests.support.spark.spark_sink import rows, write_batch

TOPIC = "orders"
# Far below the time for which a source waits for a cluster that does not answer.
AT_ONCE_SECONDS = 30.0


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        client = admin(node)
        for created in client.create_topics([NewTopic(TOPIC, 2)]).values():
            created.result()
        yield node


def admin(node: SecuredNode) -> AdminClient:
    return AdminClient(
        {
            "bootstrap.servers": node.endpoint().address,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(node.certificates.truststore),
            "sasl.mechanism": "PLAIN",
            "sasl.username": "admin",
            "sasl.password": PASSWORDS["admin"],
        }
    )


def allow(node: SecuredNode, *rights: tuple[AclOperation, ResourceType, str]) -> None:
    """To User:paula. Names that end in * are prefixes."""
    bindings = [
        AclBinding(
            kind,
            name.removesuffix("*"),
            ResourcePatternType.PREFIXED if name.endswith("*") else ResourcePatternType.LITERAL,
            "User:paula",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for operation, kind, name in rights
    ]
    client = admin(node)
    for created in client.create_acls(bindings).values():
        created.result()


def options(node: SecuredNode, *, user: str = "admin", password: str = "") -> dict[str, str]:
    login = {"username": user, "password": password or PASSWORDS[user]}
    return {
        "kafka.bootstrap.servers": node.endpoint().address,
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": jaas_text(PLAIN_MODULE, login),
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(node.certificates.truststore),
    }


def read(given: dict[str, str]) -> list[Any]:
    """As Spark does: the reader that plans, and in another process a pickled one that reads."""
    parsed = parse_options({**given, "subscribe": TOPIC}, is_streaming=False)
    reader = OttlaReader(parsed, [SourceColumn("value", is_nullable=True)])
    parts = reader.partitions()
    task: OttlaReader = pickle.loads(pickle.dumps(reader))
    return [
        row["value"] for part in parts for batch in task.read(part) for row in batch.to_pylist()
    ]


def test_rows_are_written_and_read_over_tls_by_a_user(node: SecuredNode) -> None:
    given = options(node)
    bootstrap = given.pop("kafka.bootstrap.servers")
    sent = [b"%d" % number for number in range(20)]
    write_batch(bootstrap, [rows(sent[:10]), rows(sent[10:])], topic=TOPIC, **given)
    assert sorted(read(options(node))) == sorted(sent)


def test_refused_credentials_and_certificates_stop_a_query_at_once(
    node: SecuredNode, tmp_path: Path
) -> None:
    started = SystemClock().monotonic()
    with pytest.raises(ClusterError, match="invalid credentials"):
        read(options(node, password="wrong"))
    stranger = Authority(tmp_path, "stranger")
    foreign = options(node) | {"kafka.ssl.truststore.location": str(stranger.truststore)}
    with pytest.raises(ClusterError, match="certificate verify failed"):
        read(foreign)
    assert SystemClock().monotonic() - started < AT_ONCE_SECONDS


def test_users_need_the_rights_that_the_document_lists(node: SecuredNode) -> None:
    """Of docs/pipelines.md."""
    given = options(node, user="paula")
    sink = {**given, "writeId": "paula's", "topic": TOPIC}
    bootstrap = sink.pop("kafka.bootstrap.servers")
    write, read_right, create = AclOperation.WRITE, AclOperation.READ, AclOperation.CREATE
    topic, group = ResourceType.TOPIC, ResourceType.GROUP
    with pytest.raises(ClusterError, match="AUTHORIZATION_FAILED"):
        write_batch(bootstrap, [rows([b"refused"])], **sink)
    allow(
        node,
        (write, topic, TOPIC),
        (read_right, topic, "__ottla_pipeline"),
        (write, topic, "__ottla_pipeline"),
        (create, topic, "__ottla_pipeline"),
        (write, ResourceType.TRANSACTIONAL_ID, "ottla-*"),
    )
    write_batch(bootstrap, [rows([b"allowed"])], **sink)
    with pytest.raises(ClusterError, match="AUTHORIZATION_FAILED"):
        read(given)
    allow(node, (read_right, topic, TOPIC), (read_right, group, "reports"))
    assert read(given).count(b"allowed") == 1
    stream = {**given, "subscribe": TOPIC, "kafka.group.id": "reports"}
    reader = OttlaStreamReader(parse_options(stream, is_streaming=True), [])
    reader._commit({TopicPartition(TOPIC, 0): 1})
