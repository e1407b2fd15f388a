"""Addresses of brokers on the command line."""

import pytest

from ottla.cli.connection.bootstrap_addresses import join_addresses, parse_addresses
from ottla.cli.exit_codes import CommandError, ExitCode


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("127.0.0.1:9092", "127.0.0.1:9092"),
        ("broker", "broker:9092"),
        ("one:1, two:2", "one:1,two:2"),
        ("[::1]:9093", "[::1]:9093"),
        ("[::1]", "[::1]:9092"),
    ],
)
def test_hosts_have_ports(text: str, joined: str) -> None:
    assert join_addresses(parse_addresses(text)) == joined


@pytest.mark.parametrize(
    "text", ["", "host:", "host:0", "host:65536", "host:port", "::1:9092", "a b:1", "one:1,"]
)
def test_what_is_no_address_is_wrong_usage(text: str) -> None:
    with pytest.raises(CommandError, match="is not an address of a broker") as raised:
        parse_addresses(text)
    assert raised.value.exit_code == ExitCode.USAGE
    assert "HOST:PORT" in raised.value.hints[0]


def test_a_scheme_is_a_listeners_not_a_clients() -> None:
    with pytest.raises(CommandError) as raised:
        parse_addresses("PLAINTEXT://localhost:9092")
    assert "Leave out the scheme: PLAINTEXT://" in raised.value.hints[0]
