"""A node has a valid token for other nodes, and asks for the next one before it expires."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Coroutine
from dataclasses import replace

import pytest

from ottla.broker.control.login_token import ClientCredentials, LoginToken
from ottla.broker.control.outgoing_security import outgoing_security
from ottla.configs import (
    InvalidConfigError,
    ListenerSecurity,
    OAuthSettings,
    Password,
    SaslSettings,
    TokenRetrieval,
)
from ottla.controller.quorum_seams import Seams
from ottla.runtime.background import InlineBackground
from ottla.runtime.https_request import HttpsError, HttpsRequest
from ottla.runtime.tasks import Tasks
from ottla.security.sasl.mechanism import AuthenticationError
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.security.tokens import Provider

URL, FILE_URL = "https://provider.example/token", "file:///etc/token"
PROVIDER = Provider()
RETRIEVAL = TokenRetrieval(
    token_endpoint_url=URL,
    client_id="node 1",
    client_secret=Password("swordfish"),
    scope="kafka",
    connect_timeout_ms=3_000,
    read_timeout_ms=None,
    retry_backoff_ms=100,
    retry_backoff_max_ms=10_000,
    refresh_window_factor=0.8,
    refresh_window_jitter=0.05,
    refresh_min_period_seconds=60,
    refresh_buffer_seconds=300,
)
CREDENTIALS = ClientCredentials("node 1", Password("swordfish"), "kafka")


class Login:
    def __init__(self, retrieval: TokenRetrieval = RETRIEVAL) -> None:
        self.clock = SimulatedClock()
        self.disk = SimulatedDisk()
        self.disk.make_directories("/etc")
        self.requests: list[HttpsRequest] = []
        self.requested_at: list[float] = []
        self.response: bytes | OSError = b""
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.seams = Seams(self.disk, self.clock, SeededDice(1), InlineBackground(), self.tasks)
        credentials = None if retrieval.token_endpoint_url == FILE_URL else CREDENTIALS
        self.token = LoginToken(retrieval, credentials, self.seams, fetch=self._fetch)

    def _fetch(self, request: HttpsRequest) -> bytes:
        self.requests.append(request)
        self.requested_at.append(self.clock.monotonic())
        if isinstance(self.response, OSError):
            raise self.response
        return self.response

    def respond(self, token: object, *, expires_in: object = None) -> None:
        self.response = json.dumps({"access_token": token, "expires_in": expires_in}).encode()

    def write(self, content: bytes) -> None:
        file = self.disk.open("/etc/token", create=True)
        file.truncate(0)
        file.write_at(0, [content])

    async def wait(self, seconds: float = 0) -> None:
        end = self.clock.monotonic() + seconds
        while True:
            for _ in range(5):
                await asyncio.sleep(0)  # noqa: TID251 - gives the tasks a turn
            due = self.clock.next_deadline()
            if due is None or due > end:
                break
            self.clock.advance(due - self.clock.monotonic())
        self.clock.advance(end - self.clock.monotonic())

    def current(self) -> str | None:
        try:
            return self.token.current().value
        except AuthenticationError:
            return None


def play(
    story: Callable[[Login], Coroutine[None, None, None]], retrieval: TokenRetrieval = RETRIEVAL
) -> None:
    async def run() -> None:
        login = Login(retrieval)
        await story(login)
        await login.tasks.close()
        # Timers that are left do nothing.
        login.clock.advance(10**6)
        assert not login.errors

    asyncio.run(run())


def test_credentials_are_sent_as_basic_authorization() -> None:
    async def story(login: Login) -> None:
        login.respond("token-1", expires_in=3_600)
        login.token.start()
        assert login.current() is None
        await login.wait()
        assert login.current() == "token-1"
        (request,) = login.requests
        assert request.url == URL
        assert request.form == Password("grant_type=client_credentials&scope=kafka")
        expected = b64encode(b"node 1:swordfish").decode()
        assert request.authorization == Password(f"Basic {expected}")
        assert request.connect_seconds_max == 3
        assert "swordfish" not in f"{request} {login.token} {CREDENTIALS}"
        assert expected not in repr(request)

    play(story)


def test_next_token_is_requested_before_the_end() -> None:
    async def story(login: Login) -> None:
        login.respond("token-1", expires_in=3_600)
        login.token.start()
        await login.wait()
        login.respond("token-2", expires_in=3_600)
        await login.wait(3_600 * 0.79)
        assert login.current() == "token-1"
        await login.wait(3_600 * 0.07)
        assert login.current() == "token-2"
        assert 0.8 <= login.requested_at[1] / 3_600 <= 0.85

    play(story)


@pytest.mark.parametrize(
    ("lifetime", "earliest", "latest"),
    # Before the buffer; not before the shortest period; too short for both.
    [(1_000, 700, 700), (365, 60, 65), (100, 80, 85), (0.5, 1, 1)],
)
def test_refresh_has_limits(lifetime: float, earliest: float, latest: float) -> None:
    async def story(login: Login) -> None:
        login.respond("token-1", expires_in=lifetime)
        login.token.start()
        await login.wait(lifetime + 2)
        assert earliest <= login.requested_at[1] <= latest

    play(story)


def test_expired_token_is_not_sent() -> None:
    async def story(login: Login) -> None:
        login.respond("token-1", expires_in=3_600)
        login.token.start()
        await login.wait()
        login.response = HttpsError("provider.example: it responded with status 503")
        await login.wait(3_599)
        assert login.current() == "token-1"
        await login.wait(2)
        assert login.current() is None
        login.respond("token-2", expires_in=3_600)
        await login.wait(10)
        assert login.current() == "token-2"

    play(story)


def test_failed_requests_are_repeated_ever_more_slowly() -> None:
    async def story(login: Login) -> None:
        login.response = HttpsError("provider.example: connection refused")
        login.token.start()
        await login.wait(60)
        assert len(login.requests) == 1 + 7 + 4

    play(story)


@pytest.mark.parametrize(
    "response",
    [b"", b"[]", b"{}", b'{"access_token": 7}', b'{"access_token": ""}', b"\xff", b"token-secret"],
)
def test_response_without_token_is_refused(
    response: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(login: Login) -> None:
        login.response = response
        login.token.start()
        await login.wait()
        assert login.current() is None

    play(story)
    assert "OAUTHBEARER token was not read" in caplog.text
    assert "token-secret" not in caplog.text


@pytest.mark.parametrize("expires_in", [None, "3600", -1, 1e300])
def test_lifetime_may_be_in_the_token_itself(expires_in: object) -> None:
    async def story(login: Login) -> None:
        made = PROVIDER.token(now_ms=login.clock.now_ms(), seconds=1_000)
        login.respond(made, expires_in=expires_in)
        login.token.start()
        await login.wait()
        assert login.current() == made
        login.response = HttpsError("provider.example: connection refused")
        await login.wait(1_001)
        assert login.current() is None

    play(story)


FROM_FILE = replace(RETRIEVAL, token_endpoint_url=FILE_URL)


def test_file_is_read_at_once_and_then_regularly() -> None:
    async def story(login: Login) -> None:
        made = PROVIDER.token(now_ms=login.clock.now_ms(), seconds=1_000)
        login.write(made.encode() + b"\n")
        login.token.start()
        assert login.current() == made
        later = PROVIDER.token(now_ms=login.clock.now_ms(), seconds=2_000)
        login.write(later.encode())
        await login.wait(61)
        assert login.current() == later

    play(story, FROM_FILE)


@pytest.mark.parametrize("content", [None, b"", b"  \n", b"\xfftoken", b"x" * 70_000])
def test_node_does_not_start_without_the_token_in_its_file(content: bytes | None) -> None:
    async def story(login: Login) -> None:
        if content is not None:
            login.write(content)
        with pytest.raises(InvalidConfigError, match="OAUTHBEARER token cannot be read"):
            login.token.start()

    play(story, FROM_FILE)


# ---- from the settings of a listener


def security(
    retrieval: TokenRetrieval, *, jaas: str = "", mechanism: str | None = "OAUTHBEARER"
) -> ListenerSecurity:
    sasl = SaslSettings(
        enabled_mechanisms=("OAUTHBEARER",),
        client_mechanism=mechanism,
        jaas={"OAUTHBEARER": Password(jaas)} if jaas else {},
        max_reauth_ms={},
        server_max_receive_bytes=1_000,
        failed_authentication_delay_ms=0,
        oauth=OAuthSettings(None, retrieval),
    )
    return ListenerSecurity("SASL_PLAINTEXT", sasl=sasl)


def test_node_sends_the_token_that_is_current() -> None:
    async def story(login: Login) -> None:
        login.write(b"first")
        mechanism = outgoing_security("NODES", security(FROM_FILE), login.seams).mechanism
        assert mechanism is not None
        assert b"Bearer first\x01" in mechanism().first_message()
        login.write(b"second")
        await login.wait(61)
        assert b"Bearer second\x01" in mechanism().first_message()

    play(story, FROM_FILE)


def test_credentials_may_be_options_of_the_login_module() -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    retrieval = replace(RETRIEVAL, client_id=None, client_secret=None)

    async def story(login: Login) -> None:
        login.tasks.is_closed = True
        jaas = f'{module} clientId="node" clientSecret="swordfish";'
        assert outgoing_security("NODES", security(retrieval, jaas=jaas), login.seams).mechanism
        for text in ("", f'{module} clientId="node";', f'{module} clientSecret="swordfish";'):
            with pytest.raises(InvalidConfigError, match=r"client\.credentials\.client\.id") as no:
                outgoing_security("NODES", security(retrieval, jaas=text), login.seams)
            assert "swordfish" not in str(no.value)

    play(story)


def test_node_that_stands_alone_needs_no_mechanism() -> None:
    async def story(login: Login) -> None:
        alone = security(FROM_FILE, mechanism=None)
        assert outgoing_security("NODES", alone, login.seams).mechanism is None

    play(story)
