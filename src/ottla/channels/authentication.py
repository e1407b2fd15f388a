"""The client's side of a SASL exchange on a new connection."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, KafkaError
from ottla.security.sasl.mechanism import ClientMechanism
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.wire.schema import Message

_HANDSHAKE_VERSION: Final = 1
_AUTHENTICATE_VERSION: Final = 2
# More than any mechanism has.
_MESSAGES_MAX: Final = 8


class AuthenticationFailedError(ChannelError):
    """The node refused the credentials or the mechanism, or did not prove that it knows them. The
    reason is the message without the node's address."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class RequestSender(Protocol):
    def send(
        self, request: Message, version: int, *, timeout_ms: int
    ) -> asyncio.Future[Message]: ...


async def authenticate(
    channel: RequestSender, mechanism: ClientMechanism, *, timeout_ms: int
) -> int:
    """Returns the session's lifetime in milliseconds, 0 if it does not end. Raises
    AuthenticationFailedError, or ChannelError if the connection is lost."""
    try:
        return await _exchange(channel, mechanism, timeout_ms=timeout_ms)
    except KafkaError as error:
        raise AuthenticationFailedError(_text(mechanism, error.message)) from None


def _text(mechanism: ClientMechanism, reason: str) -> str:
    """Nodes say what has failed in most of their messages."""
    if "authentication" in reason.lower():
        return reason
    return f"authentication with {mechanism.name} failed: {reason}"


async def _exchange(channel: RequestSender, mechanism: ClientMechanism, *, timeout_ms: int) -> int:
    chosen = await channel.send(
        SaslHandshakeRequest(mechanism=mechanism.name), _HANDSHAKE_VERSION, timeout_ms=timeout_ms
    )
    assert isinstance(chosen, SaslHandshakeResponse)
    if chosen.error_code:
        raise AuthenticationFailedError(_refusal(chosen, mechanism))
    message: bytes | None = mechanism.first_message()
    lifetime_ms = 0
    for _ in range(_MESSAGES_MAX):
        if message is None:
            break
        answer = await channel.send(
            SaslAuthenticateRequest(auth_bytes=message),
            _AUTHENTICATE_VERSION,
            timeout_ms=timeout_ms,
        )
        assert isinstance(answer, SaslAuthenticateResponse)
        if answer.error_code:
            code = ErrorCode(answer.error_code)
            raise KafkaError(code, answer.error_message or code.name)
        lifetime_ms = answer.session_lifetime_ms
        message = mechanism.evaluate(bytes(answer.auth_bytes))
    if not mechanism.is_complete:
        raise KafkaError(
            ErrorCode.SASL_AUTHENTICATION_FAILED, "the node ended the SASL exchange too early"
        )
    return lifetime_ms


def _refusal(chosen: SaslHandshakeResponse, mechanism: ClientMechanism) -> str:
    code = ErrorCode(chosen.error_code)
    if code is ErrorCode.ILLEGAL_SASL_STATE:
        return "the listener does not authenticate clients with SASL"
    enabled = ", ".join(chosen.mechanisms) or "no mechanism"
    return f"the listener enables {enabled}, not {mechanism.name} ({code.name})"
