"""`ottla tokens` against a node that has delegation tokens."""

from __future__ import annotations

import json
import stat
from base64 import b64encode
from pathlib import Path

import pytest

from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.exit_codes import CommandError
from ottla.cli.tokens.run import (
    NewToken,
    create_token,
    expire_token,
    list_tokens,
    parse_period,
    renew_token,
)
from ottla.client_security.client_security import parse_client_security
from ottla.model import ErrorCode
from ottla.security.principal import Principal
from ottla.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ottla.wire.schema import Message
from tests.support.captured_terminal import captured_terminal, said
from tests.support.nodes.scripted_cluster import ScriptedCluster

HMAC = bytes(range(64))
ENCODED = b64encode(HMAC).decode()
HOUR_MS = 3_600_000


def answer(request: Message) -> Message:
    if isinstance(request, CreateDelegationTokenRequest):
        return CreateDelegationTokenResponse(
            principal_type="User", principal_name="bob", token_id="t1", hmac=HMAC
        )
    if isinstance(request, DescribeDelegationTokenRequest):
        token = DescribedDelegationToken(
            principal_type="User", principal_name="bob", token_id="t1", hmac=HMAC
        )
        return DescribeDelegationTokenResponse(tokens=[token])
    if isinstance(request, RenewDelegationTokenRequest):
        return RenewDelegationTokenResponse(expiry_timestamp_ms=request.renew_period_ms)
    assert isinstance(request, ExpireDelegationTokenRequest)
    return ExpireDelegationTokenResponse(error_code=ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def test_a_token_is_a_user_name_and_a_password() -> None:
    cluster, terminal = ScriptedCluster(answer), captured_terminal()
    wanted = NewToken.of("User:bob", ["User:eve"], "1h", None)
    cluster.run(lambda admin: create_token(admin, terminal, wanted, ClusterOptions(), as_json=True))
    created = json.loads(said(terminal))
    assert (created["token_id"], created["hmac"]) == ("t1", ENCODED)
    (request,) = cluster.requests
    assert isinstance(request, CreateDelegationTokenRequest)
    assert request.owner_principal_name == "bob"
    assert [each.principal_name for each in request.renewers] == ["eve"]
    assert request.max_lifetime_ms == HOUR_MS


def test_a_token_in_a_file_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    mine, out = tmp_path / "mine.properties", tmp_path / "token.properties"
    mine.write_text(
        "bootstrap.servers=kafka:9092\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        "sasl.username=bob\nsasl.password=x\nssl.endpoint.identification.algorithm=\n"
    )
    cluster, terminal = ScriptedCluster(answer), captured_terminal()
    wanted = NewToken.of(None, (), None, out)
    options = ClusterOptions(command_config=mine)
    cluster.run(lambda admin: create_token(admin, terminal, wanted, options, as_json=False))
    assert ENCODED not in said(terminal)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    config = read_command_config(out)
    security = parse_client_security(config.properties)
    assert config.bootstrap == "kafka:9092"
    assert security.is_token
    assert security.properties["sasl.username"] == "t1"
    assert security.properties["sasl.password"] == ENCODED
    with pytest.raises(CommandError, match="exists already"):
        NewToken.of(None, (), None, out)


def test_lists_hide_what_authenticates() -> None:
    cluster, terminal = ScriptedCluster(answer), captured_terminal()
    cluster.run(lambda admin: list_tokens(admin, terminal, (), as_json=False))
    cluster.run(lambda admin: list_tokens(admin, terminal, ("User:bob",), as_json=True))
    assert "User:bob" in said(terminal)
    assert ENCODED not in said(terminal)


def test_tokens_are_renewed_by_their_ids() -> None:
    cluster, terminal = ScriptedCluster(answer), captured_terminal()
    cluster.run(lambda admin: renew_token(admin, terminal, "t1", HOUR_MS / 1_000, as_json=True))
    assert json.loads(said(terminal)) == {"token_id": "t1", "expires_ms": HOUR_MS}
    request = cluster.requests[-1]
    assert isinstance(request, RenewDelegationTokenRequest)
    assert bytes(request.hmac) == HMAC
    with pytest.raises(CommandError, match="no token t2 that you may see"):
        cluster.run(lambda admin: renew_token(admin, terminal, "t2", HOUR_MS, as_json=True))


def test_a_refusal_has_a_reason() -> None:
    cluster, terminal = ScriptedCluster(answer), captured_terminal()
    with pytest.raises(CommandError, match="DELEGATION_TOKEN_OWNER_MISMATCH") as raised:
        cluster.run(lambda admin: expire_token(admin, terminal, "t1", -1, as_json=False))
    assert "renewers" in raised.value.hints[0]


def test_time_spans_are_ages() -> None:
    assert parse_period(None, "--for") is None
    assert parse_period("90s", "--for") == 90
    for text in ("0s", "tomorrow", "2100-01-01"):
        with pytest.raises(CommandError, match="--for"):
            parse_period(text, "--for")


def test_principals_have_a_type() -> None:
    assert NewToken.of("User:a:b", (), None, None).owner == Principal("User", "a:b")
    with pytest.raises(CommandError, match="--renewer"):
        NewToken.of(None, ["bob"], None, None)
