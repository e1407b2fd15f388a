"""Topics that check schemas, with a real registry and confluent-kafka's serialisers."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from confluent_kafka.schema_registry import SchemaRegistryClient, record_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from ottla.testing import Cluster
from tests.conformance.kafka_python.client import KafkaProducer
from tests.support.registry.registry_processes import RegistryProcess, running_registries

WAIT_SECONDS = 30.0
ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}],
    }
)
PERSON = json.dumps(
    {
        "title": "Person",
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }
)
PROTO = 'syntax = "proto3"; package shop; message Item { string name = 1; } message Cart { }'
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
DEAD_LETTERS = {"errors.deadletterqueue.group.enable": "true"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # On disk, so that the worker processes are real.
    with Cluster(data_dir=tmp_path_factory.mktemp("data")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def registry(cluster: Cluster) -> Iterator[RegistryProcess]:
    with running_registries(cluster.bootstrap, 1) as (registry,):
        yield registry


def create(cluster: Cluster, name: str, configs: Mapping[str, str], partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topic = NewTopic(name, partitions, 1, config=dict(configs))
    admin.create_topics([topic])[name].result(WAIT_SECONDS)


def framed(id_: int, data: bytes) -> bytes:
    return struct.pack(">bi", 0, id_) + data


class Sender:
    """Sends values and says what became of each: an offset, or an error."""

    def __init__(self, cluster: Cluster, topic: str, **more: object) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, **more})

    def send(self, *values: bytes | None, key: bytes | None = None, **more: Any) -> list[Any]:
        outcomes: list[Any] = []

        def done(error: KafkaError | None, message: Message) -> None:
            outcomes.append(message.offset() if error is None else error.name())

        for value in values:
            self._producer.produce(self._topic, value, key=key, on_delivery=done, **more)
        assert self._producer.flush(WAIT_SECONDS) == 0
        return outcomes


def read(cluster: Cluster, topic: str, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "readers"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    messages: list[Message] = []
    while len(messages) < count:
        found = consumer.poll(WAIT_SECONDS)
        assert found is not None, f"{len(messages)} of {count}"
        assert found.error() is None
        messages.append(found)
    consumer.close()
    return messages


def headers_of(message: Message) -> dict[str, bytes]:
    found: Any = message.headers()
    return dict(found)


def register(registry: RegistryProcess, subject: str, schema: str, **more: object) -> int:
    answer = registry.register(subject, schema, **more)
    assert answer.status == 200, answer
    id_: int = answer.body["id"]
    return id_


def test_serialisers_write_to_a_topic_that_checks_everything(
    cluster: Cluster, registry: RegistryProcess
) -> None:
    checks = {"ottla.value.schema.validation": "full", "ottla.key.schema.validation": "full"}
    create(cluster, "served", checks)
    # Each is registered a moment before it is used.
    with SchemaRegistryClient({"url": registry.url}) as client:
        context = SerializationContext("served", MessageField.VALUE)
        value = AvroSerializer(client, ORDER)({"id": 7, "note": "x"}, context)
    person = register(registry, "served-key", PERSON, schemaType="JSON")
    key = framed(person, b'{"name": "Ada"}')
    sender = Sender(cluster, "served")
    assert sender.send(value, key=key) == [0]
    assert sender.send(None, key=key) == [1]
    for hostile in (b"Ada", framed(person, b"{}"), framed(person, b"[" * 100_000)):
        assert sender.send(value, key=hostile) == ["INVALID_RECORD"]
    assert sender.send(value[:-1], key=key) == ["INVALID_RECORD"]


@pytest.mark.parametrize("check", ["schema-id", "full"])
@pytest.mark.parametrize("codec", CODECS)
def test_a_bad_record_of_a_batch_is_named(
    cluster: Cluster, registry: RegistryProcess, check: str, codec: str
) -> None:
    topic = f"named-{check}-{codec}"
    create(cluster, topic, {"ottla.value.schema.validation": check})
    id_ = register(registry, f"{topic}-value", '"long"')
    good, bad = framed(id_, b"\x0e"), b"no schema"
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap,
        compression_type=None if codec == "none" else codec,
        linger_ms=50,
        retries=0,
    )
    futures = [producer.send(topic, value) for value in (good, good, bad, good)]
    producer.flush(WAIT_SECONDS)
    found = [str(future.exception) for future in futures]
    producer.close()
    reasons = ["does not begin with the id" if number == 2 else "part of" for number in range(4)]
    assert all(map(str.__contains__, found, reasons)), found
    sender = Sender(cluster, topic, **{"compression.type": codec})
    assert sender.send(*[good] * 3_000) == list(range(3_000))


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        (lambda id_, other: framed(id_, b""), "the value ends too early"),
        (lambda id_, other: framed(id_, b"\x0e\x0e"), "1 bytes are left"),
        (lambda id_, other: framed(other, b"\x0e"), "not registered under the subject"),
        (lambda id_, other: framed(999, b"\x0e"), "schema 999 is not registered"),
        (lambda id_, other: b"\x01\x00\x00\x00\x01\x0e", "does not begin with the id"),
    ],
)
def test_the_message_says_what_is_wrong(
    cluster: Cluster,
    registry: RegistryProcess,
    named: Callable[[int, int], bytes],
    reason: str,
) -> None:
    checks = {"ottla.value.schema.validation": "full"}
    dead = {**checks, "ottla.schema.deadletterqueue.topic.name": "dlq.said"}
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    if "said" not in admin.list_topics(timeout=WAIT_SECONDS).topics:
        create(cluster, "dlq.said", DEAD_LETTERS)
        create(cluster, "said", dead)
    id_ = register(registry, "said-value", '"long"')
    other = register(registry, "unsaid-value", '"int"')
    (offset,) = Sender(cluster, "said").send(named(id_, other))
    letters = read(cluster, "dlq.said", offset + 1)
    headers = headers_of(letters[-1])
    assert reason in headers["__dlq.errors.message"].decode()
    assert headers["__dlq.errors.topic"] == b"said"
    assert headers["__dlq.errors.partition"] == b"0"
    assert headers["__dlq.errors.offset"] == str(offset).encode()
    assert letters[-1].value() == named(id_, other)


def test_protobuf_is_checked_by_the_message_that_it_names(
    cluster: Cluster, registry: RegistryProcess
) -> None:
    strategy = {
        "ottla.value.schema.validation": "full",
        "ottla.value.subject.name.strategy": "RecordNameStrategy",
    }
    create(cluster, "carts", strategy)
    id_ = register(registry, "shop.Item", PROTO, schemaType="PROTOBUF")
    sender = Sender(cluster, "carts")
    assert sender.send(framed(id_, b"\x00\x0a\x03abc")) == [0]
    for hostile in (b"\x00\x0a\xff", b"", b"\xfe" * 100, b"\x02\x08", b"\x00" + b"\x0b" * 5_000):
        assert sender.send(framed(id_, hostile)) == ["INVALID_RECORD"]
    # The subject is not registered for the second message.
    assert sender.send(framed(id_, b"\x02\x02")) == ["INVALID_RECORD"]


def test_avro_is_checked_by_the_name_of_its_record(
    cluster: Cluster, registry: RegistryProcess
) -> None:
    create(
        cluster,
        "by-name",
        {
            "ottla.value.schema.validation": "schema-id",
            "ottla.value.subject.name.strategy": "RecordNameStrategy",
        },
    )
    conf = {"subject.name.strategy": record_subject_name_strategy}
    with SchemaRegistryClient({"url": registry.url}) as client:
        context = SerializationContext("by-name", MessageField.VALUE)
        value = AvroSerializer(client, ORDER, conf=conf)({"id": 7, "note": "x"}, context)
    other = register(registry, "by-name-value", '"int"')
    sender = Sender(cluster, "by-name")
    assert sender.send(value) == [0]
    assert sender.send(framed(other, b"\x0e")) == ["INVALID_RECORD"]


def test_a_guid_in_a_header_names_the_schema(cluster: Cluster, registry: RegistryProcess) -> None:
    create(cluster, "headed", {"ottla.value.schema.validation": "full"})
    register(registry, "headed-value", '"long"')
    guid = registry.ask("GET", "/subjects/headed-value/versions/1").body["guid"]
    header = ("__value_schema_id", b"\x01" + bytes.fromhex(guid.replace("-", "")))
    sender = Sender(cluster, "headed")
    assert sender.send(b"\x0e", headers=[header]) == [0]
    assert sender.send(b"", headers=[header]) == ["INVALID_RECORD"]
    assert sender.send(b"\x0e") == ["INVALID_RECORD"]


def test_a_deleted_schema_is_refused(cluster: Cluster, registry: RegistryProcess) -> None:
    create(cluster, "deleted", {"ottla.value.schema.validation": "schema-id"})
    id_ = register(registry, "deleted-value", '"double"')
    sender = Sender(cluster, "deleted")
    assert sender.send(framed(id_, b"")) == [0]
    assert registry.ask("DELETE", "/subjects/deleted-value").status == 200
    # Accepted for a second at most.
    outcome: object = 0
    while outcome != "INVALID_RECORD":
        (outcome,) = sender.send(framed(id_, b""))


def test_what_is_set_aside_leaves_no_gap_in_the_sequence(
    cluster: Cluster, registry: RegistryProcess
) -> None:
    create(cluster, "dlq.orders", DEAD_LETTERS)
    create(
        cluster,
        "orders",
        {
            "ottla.value.schema.validation": "full",
            "ottla.schema.deadletterqueue.topic.name": "dlq.orders",
        },
    )
    id_ = register(registry, "orders-value", '"long"')
    sender = Sender(cluster, "orders", **{"enable.idempotence": True, "linger.ms": 0})
    offsets = [
        offset
        for number in range(30)
        for offset in sender.send(b"bad" if number % 3 == 0 else framed(id_, bytes([2 * number])))
    ]
    assert offsets == list(range(30))
    assert [each.offset() for each in read(cluster, "orders", 20)] == [
        number for number in range(30) if number % 3
    ]
    letters = read(cluster, "dlq.orders", 10)
    assert [headers_of(each)["__dlq.errors.offset"] for each in letters] == [
        str(number).encode() for number in range(0, 30, 3)
    ]


def test_a_bad_batch_of_a_transaction_is_refused(
    cluster: Cluster, registry: RegistryProcess
) -> None:
    create(cluster, "dlq.paid", DEAD_LETTERS)
    create(
        cluster,
        "paid",
        {
            "ottla.value.schema.validation": "schema-id",
            "ottla.schema.deadletterqueue.topic.name": "dlq.paid",
        },
    )
    id_ = register(registry, "paid-value", '"long"')
    settings = {"bootstrap.servers": cluster.bootstrap, "transactional.id": "payer"}
    for value in (b"bad", framed(id_, b"\x0e")):
        producer = Producer(settings)
        producer.init_transactions(WAIT_SECONDS)
        producer.begin_transaction()
        producer.produce("paid", value)
        if value == b"bad":
            with pytest.raises(KafkaException):
                producer.commit_transaction(WAIT_SECONDS)
            producer.abort_transaction(WAIT_SECONDS)
        else:
            producer.commit_transaction(WAIT_SECONDS)
    assert [each.value() for each in read(cluster, "paid", 1)] == [framed(id_, b"\x0e")]


@pytest.mark.parametrize(
    ("name", "configs"),
    [
        ("letters", DEAD_LETTERS),
        ("dlq.forbidden", {}),
        ("dlq.compacted", {**DEAD_LETTERS, "cleanup.policy": "compact"}),
        ("dlq.checking", {**DEAD_LETTERS, "ottla.value.schema.validation": "full"}),
        ("dlq.missing", None),
    ],
)
def test_a_topic_that_takes_no_dead_letters_gets_none(
    cluster: Cluster, registry: RegistryProcess, name: str, configs: Mapping[str, str] | None
) -> None:
    del registry
    if configs is not None:
        create(cluster, name, configs)
    topic = f"for-{name}"
    create(
        cluster,
        topic,
        {
            "ottla.value.schema.validation": "schema-id",
            "ottla.schema.deadletterqueue.topic.name": name,
        },
    )
    assert Sender(cluster, topic).send(b"bad") == ["INVALID_RECORD"]
