"""Principals as text and as data in an Envelope."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.model import ErrorCode, KafkaError
from ottla.security.principal import (
    ANONYMOUS,
    Principal,
    decode_principal,
    encode_principal,
    parse_principal,
)


def test_a_principal_is_a_type_and_a_name() -> None:
    assert str(ANONYMOUS) == "User:ANONYMOUS"
    assert parse_principal("User:alice") == Principal("User", "alice")
    assert parse_principal("User:CN=a,O=b:c") == Principal("User", "CN=a,O=b:c")


@pytest.mark.parametrize("text", ["", "alice"])
def test_a_principal_without_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="as User:alice"):
        parse_principal(text)


def test_a_delegation_token_makes_no_other_principal() -> None:
    with_token = Principal("User", "alice", is_from_token=True)
    assert with_token == Principal("User", "alice")
    assert [with_token] == [Principal("User", "alice")]
    assert hash(with_token) == hash(Principal("User", "alice"))
    assert with_token != Principal("User", "bob")
    assert with_token != Principal("Group", "alice")
    assert with_token != ("User", "alice", True)


def test_encoding_is_kafkas() -> None:
    data = encode_principal(Principal("User", "alice", is_from_token=True))
    assert data == b"\x00\x00" + b"\x05User" + b"\x06alice" + b"\x01" + b"\x00"


@given(st.text(), st.text(), st.booleans())
def test_an_encoded_principal_comes_back(kind: str, name: str, is_from_token: bool) -> None:
    principal = Principal(kind, name, is_from_token)
    try:
        data = encode_principal(principal)
    except UnicodeEncodeError:
        return
    decoded = decode_principal(data)
    assert (decoded, decoded.is_from_token) == (principal, is_from_token)
    assert decode_principal(memoryview(data)) == principal


@given(st.binary(max_size=40))
def test_malformed_principals_are_refused(data: bytes) -> None:
    code = None
    try:
        decode_principal(data)
    except KafkaError as error:
        code = error.code
    assert code in (None, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x01\x05User\x01\x00\x00", b"\xff\xff"])
def test_another_version_is_refused(data: bytes) -> None:
    with pytest.raises(KafkaError, match="version 0 only"):
        decode_principal(data)
