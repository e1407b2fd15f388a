"""Options of the source: Spark's names and defaults, and errors that say what to do."""

from __future__ import annotations

import pickle

import pytest

from ottla.model import TopicPartition
from ottla.pipeline.reading.errors import OptionError
from ottla.pipeline.reading.options import SourceOptions, Subscription, parse_options
from ottla.pipeline.reading.positions import EARLIEST, LATEST
from ottla.runtime.network import Address

REQUIRED = {"kafka.bootstrap.servers": "one:9092, two:9093", "subscribe": "orders"}


def parsed(options: dict[str, str] | None = None, *, is_streaming: bool = False) -> SourceOptions:
    return parse_options(REQUIRED | (options or {}), is_streaming=is_streaming)


def test_a_batch_goes_from_the_earliest_to_the_latest_offset() -> None:
    options = parsed()
    assert options.starting.everywhere == EARLIEST
    assert options.ending.everywhere == LATEST
    assert options.bootstrap == (Address("one", 9092), Address("two", 9093))
    assert options.subscription == Subscription(topics=("orders",))


def test_a_stream_begins_with_what_comes_next() -> None:
    assert parsed(is_streaming=True).starting.everywhere == LATEST


def test_only_committed_records_are_read_by_default() -> None:
    assert parsed().read_committed
    assert not parsed({"kafka.isolation.level": "read_uncommitted"}).read_committed


def test_names_are_found_in_any_case() -> None:
    assert parsed({"FAILONDATALOSS": "false", "MinPartitions": "7"}) == parsed(
        {"failOnDataLoss": "false", "minPartitions": "7"}
    )


def test_offsets_are_given_for_each_partition() -> None:
    starting = parsed({"startingOffsets": '{"orders": {"0": 23, "1": -2}}'}).starting
    assert starting.of(TopicPartition("orders", 0)) == 23
    assert starting.of(TopicPartition("orders", 1)) == EARLIEST
    with pytest.raises(OptionError, match="leave out orders-2"):
        starting.of(TopicPartition("orders", 2))


def test_timestamps_go_before_offsets_and_one_for_all_before_those_for_each() -> None:
    each = {"startingOffsetsByTimestamp": '{"orders": {"0": 5}}', "startingOffsets": "latest"}
    by_partition = parsed(each).starting
    assert by_partition.is_timestamp
    assert by_partition.of(TopicPartition("orders", 0)) == 5
    assert parsed({**each, "startingTimestamp": "9"}).starting.everywhere == 9


def test_partitions_are_assigned_by_name() -> None:
    given = {"kafka.bootstrap.servers": "one", "assign": '{"orders": [1, 0]}'}
    options = parse_options(given, is_streaming=False)
    assert options.subscription.assigned == (
        TopicPartition("orders", 1),
        TopicPartition("orders", 0),
    )
    assert options.bootstrap == (Address("one", 9092),)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"subscribePattern": "ord.*"}, "given are subscribe and subscribePattern"),
        ({"startingOffset": "earliest"}, "startingOffset is not an option"),
        ({"startingOffsets": "first"}, "write it as"),
        ({"startingOffsets": '{"orders": 5}'}, "write it as"),
        ({"endingOffsets": "earliest"}, "there are no records before it"),
        ({"startingTimestamp": "yesterday"}, "milliseconds since 1970"),
        ({"maxRecordsPerPartition": "0"}, "a number above zero"),
        ({"failOnDataLoss": "no"}, "true or false"),
        ({"kafka.isolation.level": "serializable"}, "read_committed or read_uncommitted"),
        ({"kafka.bootstrap.servers": "one:http"}, "write HOST:PORT"),
        ({"subscribe": " "}, "name at least one topic"),
    ],
)
def test_what_is_wrong_is_refused_with_what_to_do(options: dict[str, str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        parsed(options)


def test_a_stream_has_no_end() -> None:
    with pytest.raises(OptionError, match="a stream has no end"):
        parsed({"endingOffsets": "latest"}, is_streaming=True)


def test_without_an_address_it_says_what_is_missing() -> None:
    with pytest.raises(OptionError, match=r"kafka\.bootstrap\.servers is missing"):
        parse_options({"subscribe": "orders"}, is_streaming=False)


def test_a_pattern_that_is_none_is_refused() -> None:
    given = {"kafka.bootstrap.servers": "one", "subscribePattern": "ord("}
    with pytest.raises(OptionError, match="not a valid regular expression"):
        parse_options(given, is_streaming=False)


LOGIN = {
    "kafka.security.protocol": "SASL_PLAINTEXT",
    "kafka.sasl.mechanism": "SCRAM-SHA-512",
    "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="billing" password="secret of billing";',
}


def test_the_security_of_kafkas_clients_goes_to_the_tasks() -> None:
    options = parsed(LOGIN)
    security = pickle.loads(pickle.dumps(options)).security
    assert security == options.security
    assert security.protocol == "SASL_PLAINTEXT"
    assert security.properties["sasl.username"] == "billing"
    assert "secret of billing" not in repr(options)
    assert parsed().security.protocol == "PLAINTEXT"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"kafka.security.protocol": "SASL_SSL"}, r"sasl\.mechanism is missing"),
        ({"kafka.sasl.mechanism": "PLAIN"}, r"sasl\.mechanism has no effect without SASL"),
        (
            LOGIN | {"kafka.security.protocol": "SSL_SASL"},
            r"security\.protocol 'SSL_SASL' must be one of",
        ),
        (
            {"kafka.security.protocol": "SSL", "kafka.ssl.truststore.location": "/nowhere/ca.pem"},
            r"/nowhere/ca\.pem does not exist",
        ),
        (
            {"kafka.security.protocol": "SSL", "kafka.ssl.trustore.location": "ca.pem"},
            r"Did you mean ssl\.truststore\.location",
        ),
    ],
)
def test_security_that_cannot_be_is_refused_with_the_remedy(
    given: dict[str, str], complaint: str
) -> None:
    with pytest.raises(OptionError, match=complaint):
        parsed(given)
