"""Signed tokens: what is accepted, and each reason to refuse."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.security.sasl.jwt import (
    ALGORITHMS,
    TOKEN_CHARACTERS_MAX,
    InvalidKeysError,
    JwtVerifier,
)
from ottla.security.sasl.jwt_claims import ClaimSettings
from ottla.security.sasl.mechanism import InvalidCredentialsError
from ottla.security.sasl.oauthbearer import VerifiedToken

jwt = pytest.importorskip("jwt", reason="needs the extra ottla[security]")
pytest.importorskip("cryptography", reason="needs the extra ottla[security]")

NOW = 1_700_000_000
CLAIMS = {"iss": "https://issuer", "aud": "kafka", "sub": "alice", "iat": NOW, "exp": NOW + 60}
SETTINGS = ClaimSettings(
    expected_issuer="https://issuer", expected_audience=frozenset({"kafka", "other"})
)


def private_key(kind: str, which: int = 0) -> Any:
    """A key of a kind: RSA with its size, or an elliptic curve. `which` distinguishes several."""
    return _cached_key(kind, which)


@cache
def _cached_key(kind: str, which: int) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    assert which < 3
    if kind.startswith("RSA"):
        return rsa.generate_private_key(65537, int(kind.removeprefix("RSA")))
    if kind == "Ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    curves = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
    return ec.generate_private_key(curves[kind])


def public_jwk(kind: str, which: int = 0, **more: object) -> dict[str, Any]:
    from jwt import algorithms

    families: dict[str, Any] = {"R": algorithms.RSAAlgorithm, "E": algorithms.OKPAlgorithm}
    family = families.get(kind[0], algorithms.ECAlgorithm)
    key = private_key(kind, which).public_key()
    return {**family.to_jwk(key, as_dict=True), **more}


def jwks(*keys: dict[str, Any]) -> str:
    return json.dumps({"keys": keys})


def signed(
    claims: object = CLAIMS,
    *,
    kind: str = "P-256",
    which: int = 0,
    algorithm: str = "ES256",
    **header: object,
) -> str:
    headers: Any = {"kid": "one", **header}
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    token: str = jwt.PyJWS().encode(
        payload, private_key(kind, which), algorithm=algorithm, headers=headers
    )
    return token


def part(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def verifier(*keys: dict[str, Any], settings: ClaimSettings = SETTINGS) -> JwtVerifier:
    made = JwtVerifier(settings)
    made.replace_keys(jwks(*(keys or (public_jwk("P-256", kid="one"),))))
    return made


def refusal(token: str, tested: JwtVerifier | None = None) -> str:
    with pytest.raises(InvalidCredentialsError) as caught:
        (tested or verifier()).verify(token, now_ms=NOW * 1000)
    return caught.value.reason


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ("RSA2048", "RS256"),
        ("RSA2048", "RS512"),
        ("RSA2048", "PS256"),
        ("P-256", "ES256"),
        ("P-384", "ES384"),
        ("P-521", "ES512"),
        ("Ed25519", "EdDSA"),
    ],
)
def test_token_of_every_algorithm_is_verified(kind: str, algorithm: str) -> None:
    for named in ({}, {"alg": algorithm}):
        tested = verifier({**public_jwk(kind, kid="one"), **named})
        found = tested.verify(signed(kind=kind, algorithm=algorithm), now_ms=NOW * 1000)
        assert found == VerifiedToken("alice", (NOW + 60) * 1000)


def test_unsecured_token_is_refused_always() -> None:
    payload = part(CLAIMS)
    for algorithm in ("none", "None", "NONE", ""):
        header = part({"alg": algorithm, "kid": "one"})
        assert "three parts" in refusal(f"{header}.{payload}.")
        assert "algorithm" in refusal(f"{header}.{payload}.AAAA")
    assert "algorithm" in refusal(f"{part({'kid': 'one'})}.{payload}.AAAA")
    with pytest.raises(ValueError, match="not accepted: none"):
        JwtVerifier(SETTINGS, algorithms=["ES256", "none"])


def test_public_key_is_no_secret_of_an_hmac() -> None:
    import hmac as hmac_module

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = private_key("RSA2048").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    message = f"{part({'alg': 'HS256', 'kid': 'one'})}.{part(CLAIMS)}"
    digest = hmac_module.digest(pem, message.encode(), "sha256")
    token = f"{message}.{urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    assert "algorithm" in refusal(token, verifier(public_jwk("RSA2048", kid="one")))
    assert not any(algorithm.startswith("HS") for algorithm in ALGORITHMS)
    with pytest.raises(InvalidKeysError, match="no public key"):
        JwtVerifier(SETTINGS).replace_keys(jwks({"kty": "oct", "k": "AAAA", "kid": "one"}))


def test_changed_token_is_refused() -> None:
    header, payload, signature = signed().split(".")
    forged = part({**CLAIMS, "sub": "admin"})
    assert "signature is wrong" in refusal(f"{header}.{forged}.{signature}")
    assert "signature is wrong" in refusal(f"{header}.{payload}.AAAA")
    _, _, of_another = signed(which=1).split(".")
    assert "signature is wrong" in refusal(f"{header}.{payload}.{of_another}")


def test_key_in_the_token_is_ignored() -> None:
    own = public_jwk("P-256", 1)
    for header in ({"jwk": own}, {"jku": "https://evil"}, {"x5c": ["AAAA"]}):
        assert "signature is wrong" in refusal(signed(which=1, **header))


def test_algorithm_must_be_the_keys() -> None:
    tested = verifier(public_jwk("RSA2048", kid="one", alg="RS256"))
    assert "no key" in refusal(signed(kind="RSA2048", algorithm="PS256"), tested)
    assert "no key" in refusal(signed(), tested)
    tested = verifier(public_jwk("P-384", kid="one"))
    assert "no key" in refusal(signed(), tested)
    rs256_only = JwtVerifier(SETTINGS, algorithms=["RS256"])
    rs256_only.replace_keys(jwks(public_jwk("P-256", kid="one")))
    assert "algorithm is not accepted" in refusal(signed(), rs256_only)


def test_key_is_chosen_by_its_id() -> None:
    tested = verifier(public_jwk("P-256", 1, kid="two"), public_jwk("P-256", kid="one"))
    assert tested.verify(signed(), now_ms=NOW * 1000).name == "alice"
    assert "signature is wrong" in refusal(signed(kid="two"), tested)


def test_token_without_key_id_is_tried_with_every_key() -> None:
    tested = verifier(public_jwk("P-256", 1, kid="two"), public_jwk("P-256", kid="one"))
    payload = json.dumps(CLAIMS).encode()
    token = jwt.PyJWS().encode(payload, private_key("P-256"), algorithm="ES256")
    assert tested.verify(token, now_ms=NOW * 1000).name == "alice"
    token = jwt.PyJWS().encode(payload, private_key("P-256", 2), algorithm="ES256")
    assert "signature is wrong" in refusal(token, tested)


def test_unknown_key_is_reported_and_refused_until_it_is_there() -> None:
    reports: list[None] = []
    tested = JwtVerifier(SETTINGS, on_unknown_key=lambda: reports.append(None))
    assert "no keys" in refusal(signed(), tested)
    tested.replace_keys(jwks(public_jwk("P-256", 1, kid="old")))
    assert "no key of that id" in refusal(signed(), tested)
    assert len(reports) == 1
    tested.replace_keys(jwks(public_jwk("P-256", kid="one")))
    assert tested.verify(signed(), now_ms=NOW * 1000).name == "alice"
    assert len(reports) == 1


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"b64": False}, {"kid": 7}])
def test_header_that_demands_more_is_refused(header: dict[str, object]) -> None:
    full = {"alg": "ES256", "kid": "one", **header}
    assert refusal(f"{part(full)}.{part(CLAIMS)}.AAAA")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://other"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"iss": ["https://issuer"]}, "issuer"),
        ({"aud": "another"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": []}, "audience"),
        ({"aud": {"kafka": 1}}, "audience"),
        ({"aud": ["kafka", 1]}, "audience"),
        ({"exp": NOW - 30}, "has expired"),
        ({"exp": None}, "exp is missing"),
        ({"exp": str(NOW + 60)}, "exp is missing"),
        ({"exp": True}, "exp is missing"),
        ({"exp": -1}, "out of range"),
        ({"exp": 10**300}, "out of range"),
        ({"iat": None}, "iat is missing"),
        ({"iat": NOW + 31}, "in the future"),
        ({"nbf": NOW + 31}, "not valid yet"),
        ({"nbf": "soon"}, "nbf is missing"),
        ({"iat": NOW + 20, "exp": NOW + 10}, "before it is valid"),
        ({"nbf": NOW + 20, "exp": NOW + 10}, "before it is valid"),
        ({"sub": None}, "subject"),
        ({"sub": " "}, "subject"),
        ({"sub": 7}, "subject"),
        ({"scope": 7}, "scope"),
        ({"scope": ["a", "a"]}, "scope"),
        ({"scope": ["a", 7]}, "scope"),
        ({"scope": " "}, "scope"),
    ],
)
def test_claims_that_are_not_valid_are_refused(changes: dict[str, object], reason: str) -> None:
    merged = {**CLAIMS, **changes}
    claims = {name: value for name, value in merged.items() if value is not None}
    assert reason in refusal(signed(claims))


@pytest.mark.parametrize(
    "changes",
    [
        {"iat": NOW - 60, "exp": NOW - 29},
        {"iat": NOW + 30},
        {"nbf": NOW + 30, "exp": NOW + 40},
        {"exp": NOW + 0.5},
        {"aud": ["another", "other"]},
        {"sub": " alice "},
        {"scope": "read write"},
    ],
)
def test_clocks_may_differ_and_lists_are_taken(changes: dict[str, object]) -> None:
    found = verifier().verify(signed({**CLAIMS, **changes}), now_ms=NOW * 1000)
    assert found.name == "alice"
    if "scope" in changes:
        assert found.scopes == {"read write"}


def test_claims_have_configured_names() -> None:
    settings = ClaimSettings(scope_claim_name="scp", sub_claim_name="client_id")
    claims = {"client_id": "bob", "scp": ["a", "b"], "iat": NOW, "exp": NOW + 60}
    found = verifier(settings=settings).verify(signed(claims), now_ms=NOW * 1000)
    assert found == VerifiedToken("bob", (NOW + 60) * 1000, frozenset({"a", "b"}))


def test_token_for_an_audience_is_refused_where_none_is_expected() -> None:
    tested = verifier(settings=ClaimSettings())
    assert "audience" in refusal(signed(), tested)
    claims = {name: value for name, value in CLAIMS.items() if name != "aud"}
    assert tested.verify(signed(claims), now_ms=NOW * 1000).name == "alice"


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"7", b"{", b'{"exp":NaN}', b'{"a":1,"a":2}', b"[" * 40_000, b"\xff"]
)
def test_payload_that_is_no_object_is_refused(payload: bytes) -> None:
    token = signed(payload)
    reason = refusal(token)
    assert "JSON" in reason or "three parts" in reason


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "ä.ö.ü", "A" * TOKEN_CHARACTERS_MAX + "A"]
)
def test_malformed_token_is_refused(token: str) -> None:
    assert refusal(token)


@given(
    st.text(alphabet="abcABC-_=.019")
    | st.lists(st.binary(max_size=30), max_size=4).map(
        lambda parts: ".".join(urlsafe_b64encode(part).decode() for part in parts)
    )
)
def test_any_text_raises_only_authentication_errors(token: str) -> None:
    assert refusal(token)


def test_only_usable_keys_are_taken() -> None:
    entries: list[Any] = [
        public_jwk("P-256", kid="one", use="enc"),
        public_jwk("P-256", kid="one", key_ops=["sign"]),
        public_jwk("P-256", kid="one", alg="ES256K"),
        public_jwk("P-256", kid="one", alg=["ES256"]),
        public_jwk("RSA1024", kid="one"),
        {"kty": "RSA", "kid": "one", "n": "!", "e": "AQAB"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": ["EC"]},
        {},
    ]
    for entry in entries:
        with pytest.raises(InvalidKeysError, match="no public key"):
            JwtVerifier(SETTINGS).replace_keys(jwks(entry))
    good = public_jwk("P-256", kid="one", use="sig", key_ops=["verify"])
    assert verifier(*entries, good).verify(signed(), now_ms=NOW * 1000).name == "alice"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"keys":{}}', '{"keys":[]}', '{"keys":[7]}', "{", "[" * 50_000]
)
def test_broken_key_set_is_refused_and_the_old_keys_stay(text: str) -> None:
    tested = verifier()
    with pytest.raises(InvalidKeysError):
        tested.replace_keys(text)
    assert tested.verify(signed(), now_ms=NOW * 1000).name == "alice"


def test_key_set_has_a_limit() -> None:
    with pytest.raises(InvalidKeysError, match="at most 100"):
        JwtVerifier(SETTINGS).replace_keys(json.dumps({"keys": [{}] * 101}))


def test_refusals_contain_nothing_of_the_token() -> None:
    for claims in ({**CLAIMS, "sub": 7, "note": "topsecret"}, {**CLAIMS, "aud": "topsecret"}):
        token = signed(claims)
        assert "topsecret" not in refusal(token)
        assert token.split(".")[2] not in refusal(token)
