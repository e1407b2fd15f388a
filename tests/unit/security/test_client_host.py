"""Client addresses are compared as Java prints them, and forwarded as bytes."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.security.client_host import decode_host, encode_host, host_text


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:0db8::00ff:1", "2001:db8:0:0:0:0:ff:1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("node-1", "node-1"),
    ],
)
def test_hosts_have_the_text_that_java_prints(host: str, text: str) -> None:
    assert host_text(host) == text


@pytest.mark.parametrize("host", ["10.0.0.1", "255.255.255.255", "2001:db8:0:0:0:0:ff:1"])
def test_hosts_are_read_as_they_were_written(host: str) -> None:
    assert decode_host(encode_host(host)) == host


@pytest.mark.parametrize("host", ["client", "", "1.2.3", "1.2.3.x"])
def test_what_is_no_address_is_sent_as_none(host: str) -> None:
    assert encode_host(host) == bytes(4)


@pytest.mark.parametrize("size", [0, 3, 5, 15, 17])
def test_addresses_have_four_or_sixteen_bytes(size: int) -> None:
    with pytest.raises(KafkaError) as caught:
        decode_host(bytes(size))
    assert caught.value.code is ErrorCode.INVALID_REQUEST
