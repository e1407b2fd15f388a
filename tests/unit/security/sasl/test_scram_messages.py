"""The parsers of SCRAM's messages: what is made is parsed, and all else is refused in one way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.security.sasl.scram_messages import (
    escape_name,
    make_client_first,
    make_server_final,
    make_server_first,
    parse_client_final,
    parse_client_first,
    parse_server_final,
    parse_server_first,
    unescape_name,
)

ASCII = [chr(each) for each in range(1, 0x80)]
NAMES = st.text(alphabet=ASCII, min_size=1)
NONCES = st.text(alphabet=[c for c in ASCII if "!" <= c <= "~" and c != ","], min_size=1)
PARSERS: list[Callable[[bytes], object]] = [
    parse_client_first,
    parse_server_first,
    parse_client_final,
    parse_server_final,
]
# Parts that valid messages are made of, so that some of these are nearly valid.
PARTS = st.sampled_from(
    b"n y a=x m=x n=x n== r=x r= s=QQ== s=! i=1 i=x c=biws p=QQ== v=QQ== e=x x=y x = \xff".split(
        b" "
    )
)
HOSTILE = st.binary(max_size=60) | st.lists(PARTS, max_size=7).map(b",".join)


@given(NAMES)
def test_escaped_names_come_back(name: str) -> None:
    assert unescape_name(escape_name(name)) == name


@pytest.mark.parametrize("name", ["", "=", "a=b", "=2D", "=2c", "a,b", "ä", "\0", "=3"])
def test_names_that_are_not_escaped_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a SASL name"):
        unescape_name(name)


def test_an_escaped_equals_sign_is_not_the_start_of_a_comma() -> None:
    assert unescape_name("=3D2C") == "=2C"


@given(NAMES, NONCES, st.booleans())
def test_client_first_comes_back(name: str, nonce: str, is_token: bool) -> None:
    made = make_client_first(name, nonce, {"tokenauth": "true"} if is_token else {})
    parsed = parse_client_first(f"{made.gs2_header}{made.bare}".encode())
    assert parsed == made
    assert parsed.is_token is is_token


@given(NONCES, st.binary(min_size=1), st.integers(min_value=0, max_value=10**9 - 1))
def test_server_first_comes_back(nonce: str, salt: bytes, iterations: int) -> None:
    made = make_server_first(nonce, salt, iterations)
    assert parse_server_first(made.text.encode()) == made
    assert parse_server_first(made.text.encode() + b",x=y").iterations == iterations


@given(st.binary())
def test_server_final_comes_back(signature: bytes) -> None:
    assert parse_server_final(make_server_final(signature)).signature == signature


def test_unknown_extensions_are_ignored() -> None:
    parsed = parse_client_first(b"n,a=b,n=x,r=y,z=1,tokenauth=TRUE")
    assert (parsed.authorization_id, parsed.name, parsed.nonce) == ("b", "x", "y")
    assert parsed.is_token
    assert not parse_client_first(b"n,,n=x,r=y,tokenauth=false").is_token


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"y,,n=x,r=y", "the GS2 header must be n"),
        (b"p=tls-unique,,n=x,r=y", "the GS2 header must be n"),
        (b"n,,m=z,n=x,r=y", "demands an extension"),
        (b"n,,r=y,n=x", "attribute n"),
        (b"n,,n=x", "the GS2 header must be n"),
        (b"n,,n=x,r=", "nonce is empty"),
        (b"n,,n=x,r=a b", "nonce is empty"),
        (b"n,b,n=x,r=y", "attribute a"),
        (b"n,,n=x,r=y,z", "extension"),
        (b"n,,n=x,r=y,tokenauth=true,tokenauth=false", "repeated"),
        ("n,,n=ä,r=y".encode(), "not ASCII"),
    ],
)
def test_bad_client_first_is_refused(message: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_client_first(message)


@pytest.mark.parametrize("parser", PARSERS)
@given(message=HOSTILE)
def test_hostile_messages_raise_only_value_errors(
    parser: Callable[[bytes], object], message: bytes
) -> None:
    shown = ""
    try:
        shown = repr(parser(message))
    except ValueError as error:
        shown = str(error)
    assert len(shown) < 1_000


@pytest.mark.parametrize("parser", PARSERS)
def test_long_messages_take_linear_time(parser: Callable[[bytes], object]) -> None:
    for part in (b",", b"=", b"a=", b",x=", b"=2C", b"n,,n=", b"A"):
        with pytest.raises(ValueError, match=r"."):
            parser(part * (500_000 // len(part)))
