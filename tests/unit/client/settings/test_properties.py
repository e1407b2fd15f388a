"""Properties by Kafka's names, as keywords, and their checks."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from ottla.client import ConfigError, Producer, Scram, Security, Tls
from ottla.client.settings.common import COMMON, CommonProperties
from ottla.client.settings.parsing import parse_properties
from ottla.client.settings.producer import (
    PRODUCER,
    ProducerProperties,
    ProducerSettings,
    producer_settings,
)
from ottla.client_security.property_names import is_of_security
from ottla.runtime.network import Address

SERVERS = {"bootstrap.servers": "127.0.0.1:9092"}


def settings(**keywords: Any) -> ProducerSettings:
    return producer_settings(parse_properties(PRODUCER, SERVERS, keywords))


@pytest.mark.parametrize(
    ("table", "keywords"), [(COMMON, CommonProperties), (PRODUCER, ProducerProperties)]
)
def test_the_keywords_of_type_checkers_are_those_of_the_table(table: Any, keywords: Any) -> None:
    typed = {name.replace("_", ".") for name in get_type_hints(keywords)} - {"security"}
    assert {name for name in typed if not is_of_security(name)} == table.keys()


def test_properties_and_keywords_are_the_same() -> None:
    by_name = parse_properties(PRODUCER, {**SERVERS, "linger.ms": "7", "acks": "all"}, {})
    by_keyword = parse_properties(
        PRODUCER, None, {"bootstrap_servers": ["127.0.0.1"], "linger_ms": 7, "acks": -1}
    )
    assert by_name.values == by_keyword.values
    assert by_name.values["bootstrap.servers"] == (Address("127.0.0.1", 9092),)


@pytest.mark.parametrize(
    ("properties", "keywords", "message"),
    [
        ({}, {}, "bootstrap.servers is missing"),
        ({"lingerms": 5}, {}, "There is no property lingerms of this client. Did you mean linger"),
        ({"linger.ms": "soon"}, {}, "linger.ms is 'soon': it must be a whole number"),
        ({"linger.ms": -1}, {}, "it must be between 0 and"),
        ({"acks": "most"}, {}, "it must be all, 1 or 0"),
        ({"linger.ms": 5}, {"linger_ms": 5}, "given twice"),
        ({"bootstrap.servers": "a:b"}, {}, "'a:b' is not HOST:PORT"),
        ({"compression.type": "zip"}, {}, "it must be one of none, gzip, snappy, lz4, zstd"),
        ({"sasl.mechanism": "PLAIN"}, {}, "has no effect without SASL"),
        ({"security.protocol": "TLS"}, {}, "must be one of PLAINTEXT, SSL"),
    ],
)
def test_an_error_says_what_is_wrong(
    properties: dict[str, Any], keywords: dict[str, Any], message: str
) -> None:
    given = {**SERVERS, **properties} if properties or keywords else {}
    with pytest.raises(ConfigError) as error:
        parse_properties(PRODUCER, given, keywords)
    assert message in str(error.value)


def test_idempotence_is_the_default_and_gives_way_unless_it_is_asked_for() -> None:
    assert settings().is_idempotent
    assert not settings(acks=1).is_idempotent
    with pytest.raises(ConfigError, match="needs acks=all"):
        settings(acks=1, enable_idempotence=True)
    with pytest.raises(ConfigError, match="at most 5"):
        settings(transactional_id="x", max_in_flight_requests_per_connection=6)
    with pytest.raises(ConfigError, match=r"needs enable\.idempotence=true"):
        settings(transactional_id="x", enable_idempotence=False)


def test_a_delivery_has_time_for_one_request() -> None:
    assert settings(linger_ms=200_000).delivery_timeout_ms == 230_000
    with pytest.raises(ConfigError, match=r"Raise delivery\.timeout\.ms"):
        settings(delivery_timeout_ms=100)


def test_typed_security_is_the_same_as_properties() -> None:
    typed = Security(
        Tls(ca="ca.pem", checks_host_name=False), Scram("alice", 'a"b\\c', is_token=True)
    )
    properties = typed.properties()
    assert properties["security.protocol"] == "SASL_SSL"
    assert properties["ssl.ca.location"] == "ca.pem"
    assert 'password="a\\"b\\\\c" tokenauth="true"' in properties["sasl.jaas.config"]
    assert "a" + '"b' not in repr(typed)
    parsed = parse_properties(
        PRODUCER, SERVERS, {"security": Security(sasl=Scram("alice", 'a"b\\c', is_token=True))}
    )
    assert parsed.security.mechanism is not None
    assert parsed.security.tls is None
    with pytest.raises(ConfigError, match="set the same thing"):
        Producer(SERVERS, security=typed, security_protocol="SSL")
