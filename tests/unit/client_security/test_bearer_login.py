"""How long a client that stays keeps a token."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import cast

import pytest

from ottla.channels.authentication import AuthenticationFailedError
from ottla.client_security.bearer_login import BearerLogin
from ottla.client_security.bearer_token import BearerTokenSource
from ottla.runtime.clock import Clock


class WallClock:
    def __init__(self) -> None:
        self.now_s = 1_000

    def now_ms(self) -> int:
        return self.now_s * 1_000


def token(name: str, **claims: float) -> str:
    parts = ({"alg": "none"}, {"sub": name, **claims})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join([*(each.rstrip("=") for each in encoded), "x"])


def login_from(path: Path) -> tuple[BearerLogin, WallClock]:
    clock = WallClock()
    return BearerLogin(BearerTokenSource(path.as_uri()), None, cast(Clock, clock)), clock


def sent(login: BearerLogin) -> bytes:
    asyncio.run(login.prepare())
    return login.mechanism().first_message()


def test_a_token_is_replaced_after_most_of_its_life(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(token("old", exp=2_000))
    login, clock = login_from(path)
    assert token("old", exp=2_000).encode() in sent(login)
    path.write_text(token("new", exp=9_000))
    clock.now_s = 1_799
    assert token("old", exp=2_000).encode() in sent(login)
    clock.now_s = 1_800
    assert token("new", exp=9_000).encode() in sent(login)


def test_a_token_without_an_end_is_read_again_for_each_connection(tmp_path: Path) -> None:
    path = tmp_path / "token"
    login, _ = login_from(path)
    for name in ("one", "two"):
        path.write_text(token(name))
        assert token(name).encode() in sent(login)


def test_a_missing_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    login, _ = login_from(tmp_path / "token")
    with pytest.raises(AuthenticationFailedError, match=r"sasl\.oauthbearer\.token\.endpoint\.url"):
        asyncio.run(login.prepare())
