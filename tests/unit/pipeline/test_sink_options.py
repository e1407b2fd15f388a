"""The options of a write, and what its columns may be."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ottla.pipeline.reading.errors import OptionError
from ottla.pipeline.writing.columns import check_columns
from ottla.pipeline.writing.options import SinkOptions, parse_options
from ottla.runtime.network import Address
from ottla.wire.records.compression import Codec

SERVERS = {"kafka.bootstrap.servers": "a:1,b:2"}


def parsed(given: Mapping[str, str], *, is_streaming: bool = True) -> SinkOptions:
    return parse_options({**SERVERS, **given}, is_streaming=is_streaming)


def test_without_options_rows_are_written_exactly_once() -> None:
    options = parsed({})
    assert options.bootstrap == (Address("a", 1), Address("b", 2))
    assert options.is_exactly_once
    assert options.topic is None
    assert options.journal_topic == "__ottla_pipeline"
    assert options.codec is Codec.NONE
    assert options.transaction_timeout_ms == 900_000


def test_a_producers_configs_count() -> None:
    given = {
        "KAFKA.Compression.Type": "ZSTD",
        "kafka.compression.zstd.level": "7",
        "kafka.compression.gzip.level": "2",
        "kafka.batch.size": "1000",
        "kafka.linger.ms": "5",
        "kafka.acks": "all",
        "Topic": "t",
        "deliveryguarantee": "at-least-once",
    }
    options = parsed(given)
    assert (options.codec, options.compression_level) == (Codec.ZSTD, 7)
    assert options.batch_bytes_max == 1_000
    assert options.topic == "t"
    assert not options.is_exactly_once


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"topik": "t"}, "topik is not an option of this sink"),
        ({"kafka.transactional.id": "mine"}, "kafka.transactional.id cannot be set"),
        ({"kafka.acks": "1"}, "kafka.acks is '1'"),
        ({"kafka.compression.type": "zip"}, "it must be one of none, gzip, snappy, lz4, zstd"),
        ({"kafka.batch.size": "0"}, "a number above zero"),
        ({"deliveryGuarantee": "often"}, "it must be exactly-once or at-least-once"),
        ({"onError": "deadletter"}, "needs deadLetterTopic"),
        ({"deadLetterTopic": "d"}, "onError is not deadletter"),
        ({"writeId": "today"}, "writeId and writeVersion are for batches"),
    ],
)
def test_mistakes_are_refused_by_name(given: dict[str, str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        parsed(given)


def test_a_batch_may_say_which_one_it_is() -> None:
    options = parsed({"writeId": "today", "writeVersion": "7"}, is_streaming=False)
    assert (options.write_id, options.write_version) == ("today", 7)
    assert parsed({"writeId": "today"}, is_streaming=False).write_version == 0
    for given, reason in (
        ({"writeId": "a/b"}, "must not contain a slash"),
        ({"writeVersion": "1"}, "needs writeId"),
        ({"writeId": "a", "writeVersion": "-1"}, "a number that increases"),
    ):
        with pytest.raises(OptionError, match=reason):
            parsed(given, is_streaming=False)


def test_columns_of_sparks_connector_are_taken_and_others_left_alone() -> None:
    types = {
        "key": "string",
        "value": "binary",
        "headers": "array<struct<key:string,value:binary>>",
        "topic": "string",
        "partition": "int",
        "offset": "bigint",
    }
    check_columns(types, has_topic=False)
    # The option goes before the column, whatever that is.
    check_columns({"value": "string", "topic": "int"}, has_topic=True)


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        ({}, "they have none"),
        ({"val": "binary"}, "they have val"),
        ({"value": "double"}, "the column value is double"),
        ({"value": "string", "partition": "bigint"}, "the column partition is bigint"),
        ({"value": "string", "headers": "map<string,string>"}, "the column headers is map"),
    ],
)
def test_columns_that_cannot_be_written_are_named(types: dict[str, str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        check_columns(types, has_topic=True)
