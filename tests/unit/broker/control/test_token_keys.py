"""The keys of OAUTHBEARER tokens are read again in time, and never because a stranger wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager

import pytest

from ottla.broker.control.token_keys import TokenKeys
from ottla.configs import InvalidConfigError, TokenValidation
from ottla.controller.quorum_seams import Seams
from ottla.runtime.background import InlineBackground
from ottla.runtime.https_request import HttpsError, HttpsRequest
from ottla.runtime.tasks import Tasks
from ottla.security.sasl.mechanism import InvalidCredentialsError
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode
from tests.support.security.listeners import (
    CLIENTS,
    PREFIX,
    SASL_CONFIGS,
    authenticate,
    authenticate_response,
    handshake,
)
from tests.support.security.tokens import AUDIENCE, ISSUER, Provider, bearer

URL = "https://provider.example/keys"
FILE, FILE_URL = "/etc/keys.json", "file:///etc/keys.json"
REFRESH_MS, RETRY_MS, RETRY_MAX_MS = 3_600_000, 100, 10_000
OAUTH_CONFIGS = SASL_CONFIGS | {
    f"{PREFIX}sasl.enabled.mechanisms": "OAUTHBEARER",
    f"{PREFIX}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": FILE_URL,
    f"{PREFIX}oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
    f"{PREFIX}oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
}


def validation(url: str = URL) -> TokenValidation:
    return TokenValidation(
        jwks_endpoint_url=url,
        expected_audience=(AUDIENCE,),
        expected_issuer=ISSUER,
        clock_skew_seconds=30,
        scope_claim_name="scope",
        sub_claim_name="sub",
        jwks_refresh_ms=REFRESH_MS,
        jwks_retry_backoff_ms=RETRY_MS,
        jwks_retry_backoff_max_ms=RETRY_MAX_MS,
    )


class Listening:
    """The keys of one listener, and the provider that it asks."""

    def __init__(self, url: str = URL) -> None:
        self.provider = Provider()
        self.clock = SimulatedClock()
        self.disk = SimulatedDisk()
        self.reads = 0
        self.error: OSError | None = None
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        seams = Seams(self.disk, self.clock, SeededDice(1), InlineBackground(), self.tasks)
        self.keys = TokenKeys(CLIENTS, validation(url), seams, fetch=self._fetch)

    def _fetch(self, request: HttpsRequest) -> bytes:
        assert request.url == URL
        assert request.form is None
        self.reads += 1
        if self.error is not None:
            raise self.error
        return self.provider.jwks

    async def wait(self, seconds: float = 0) -> None:
        """Lets time pass in small steps, and the tasks run."""
        end = self.clock.monotonic() + seconds
        while True:
            for _ in range(5):
                await asyncio.sleep(0)  # noqa: TID251 - gives the tasks a turn
            due = self.clock.next_deadline()
            if due is None or due > end:
                break
            self.clock.advance(due - self.clock.monotonic())
        self.clock.advance(end - self.clock.monotonic())

    def accepts(self, token: str | None = None) -> bool:
        made = token or self.provider.token(now_ms=self.clock.now_ms())
        try:
            self.keys.verifier.verify(made, now_ms=self.clock.now_ms())
        except InvalidCredentialsError:
            return False
        return True


def play(story: Callable[[Listening], Coroutine[None, None, None]], url: str = URL) -> None:
    async def run() -> None:
        listening = Listening(url)
        await story(listening)
        await listening.tasks.close()
        # Timers that are left do nothing.
        listening.clock.advance(10 * REFRESH_MS)
        assert not listening.errors

    asyncio.run(run())


def test_tokens_are_refused_until_the_server_has_answered() -> None:
    async def story(here: Listening) -> None:
        here.error = HttpsError("provider.example: it responded with status 500")
        here.keys.start()
        await here.wait()
        assert not here.accepts()
        here.error = None
        await here.wait(RETRY_MS / 1_000)
        assert here.accepts()

    play(story)


def test_failed_reads_are_repeated_ever_more_slowly() -> None:
    async def story(here: Listening) -> None:
        here.error = HttpsError("provider.example: no response within 30 s")
        here.keys.start()
        await here.wait(60)
        # 0.1, 0.2, 0.4 ... 6.4 s, and 10 s from then on.
        assert here.reads == 1 + 7 + 4

    play(story)


def test_keys_are_read_again_at_the_refresh_interval() -> None:
    async def story(here: Listening) -> None:
        here.keys.start()
        await here.wait(REFRESH_MS / 1_000 * 0.8)
        assert here.reads == 1
        await here.wait(REFRESH_MS / 1_000 * 0.4)
        assert here.reads == 2

    play(story)


def test_rotated_keys_are_read_when_a_token_names_one() -> None:
    async def story(here: Listening) -> None:
        here.keys.start()
        await here.wait(60)
        old = here.provider.token(now_ms=here.clock.now_ms())
        here.provider.rotate()
        assert not here.accepts()
        await here.wait()
        assert here.accepts()
        assert not here.accepts(old)
        assert here.reads == 2

    play(story)


def test_keys_stay_while_the_server_fails() -> None:
    async def story(here: Listening) -> None:
        here.keys.start()
        await here.wait()
        here.error = HttpsError("provider.example: connection refused")
        await here.wait(2 * REFRESH_MS / 1_000)
        assert here.reads > 10
        assert here.accepts()

    play(story)


def test_strangers_cannot_make_the_node_ask_often() -> None:
    async def story(here: Listening) -> None:
        here.keys.start()
        await here.wait(60)
        stranger = Provider()
        for number in range(600):
            made = stranger.token(now_ms=here.clock.now_ms(), headers={"kid": f"key-{number}"})
            for _ in range(3):
                assert not here.accepts(made)
            await here.wait(0.1)
        # In a minute: seven doublings of the pause, then one every ten seconds.
        assert here.reads <= 1 + 8 + 6
        here.provider.rotate()
        assert not here.accepts()
        await here.wait(RETRY_MAX_MS / 1_000)
        assert here.accepts()

    play(story)


def test_document_without_keys_leaves_the_old_ones(caplog: pytest.LogCaptureFixture) -> None:
    async def story(here: Listening) -> None:
        here.keys.start()
        await here.wait()
        token = here.provider.token(now_ms=here.clock.now_ms(), seconds=10**6)
        here.keys._fetch = lambda _: b'{"keys": []}'
        await here.wait(2 * REFRESH_MS / 1_000)
        assert here.accepts(token)

    play(story)
    assert "were not read: the JWKS has no public key" in caplog.text


@pytest.mark.parametrize("content", [None, b"", b'{"keys": []}', b"x" * 600_000])
def test_node_does_not_start_without_its_key_file(content: bytes | None) -> None:
    async def story(here: Listening) -> None:
        here.disk.make_directories("/etc")
        if content is not None:
            here.disk.open(FILE, create=True).write_at(0, [content])
        with pytest.raises(InvalidConfigError, match=f"listener {CLIENTS} cannot read the keys"):
            here.keys.start()

    play(story, FILE_URL)


@pytest.mark.parametrize("url", ["file:keys.json", "file://host.example/keys.json"])
def test_file_has_an_absolute_path(url: str) -> None:
    async def story(here: Listening) -> None:
        with pytest.raises(InvalidConfigError, match="must have an absolute path"):
            here.keys.start()

    play(story, url)


def test_changed_file_is_read_again() -> None:
    async def story(here: Listening) -> None:
        here.disk.make_directories("/etc")
        here.disk.open(FILE, create=True).write_at(0, [here.provider.jwks])
        here.keys.start()
        assert here.accepts()
        here.provider.rotate()
        here.disk.open(FILE, create=True).write_at(0, [here.provider.jwks])
        await here.wait(1)
        assert not here.accepts()
        await here.wait()
        assert here.accepts()

    play(story, FILE_URL)


# ---- a node


@contextmanager
def serving(provider: Provider) -> Iterator[OneNode]:
    disk = SimulatedDisk()
    disk.make_directories("/etc")
    disk.open(FILE, create=True).write_at(0, [provider.jwks])
    node = OneNode(disk, configs=OAUTH_CONFIGS)
    try:
        yield node
    finally:
        node.abandon()


def test_client_with_a_valid_token_is_served_until_it_expires() -> None:
    provider = Provider()
    with serving(provider) as node:
        client = ClientStream(node, listener=CLIENTS)
        message = bearer(provider.token(now_ms=node.clock.now_ms(), seconds=600))
        client.receive(handshake("OAUTHBEARER") + authenticate(message))
        _, answer = client.answers()
        response = authenticate_response(answer)
        assert response.error_code == 0
        assert response.session_lifetime_ms == 600_000
        client.end()


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": -60},
        {"aud": "another"},
        {"iss": "https://stranger.example"},
        {"headers": {"kid": "another"}},
    ],
)
def test_client_with_an_invalid_token_learns_nothing_and_is_closed(
    change: dict[str, object],
) -> None:
    provider = Provider()
    with serving(provider) as node:
        client = ClientStream(node, listener=CLIENTS)
        token = provider.token(now_ms=node.clock.now_ms(), **change)  # type: ignore[arg-type]
        client.feed(handshake("OAUTHBEARER") + authenticate(bearer(token)) + authenticate(b"\x01"))
        refused, failed = map(authenticate_response, client.answers()[1:])
        assert bytes(refused.auth_bytes) == b'{"status":"invalid_token"}'
        assert failed.error_code == 58
        assert failed.error_message == '{"status":"invalid_token"}'
        assert client.is_closed
        client.end()
