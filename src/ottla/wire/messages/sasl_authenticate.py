"""Carries one SASL token from the client, and the server's answer (KIP-152).

Version 1 returns the session lifetime, within which the client authenticates again (KIP-368).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int64, Message, MessageText, field


class SaslAuthenticateRequest(Message, api_key=36, versions="0-2", flexible="2+"):
    auth_bytes: Bytes = field(default=b"", secret=True)


class SaslAuthenticateResponse(Message, api_key=36, versions="0-2", flexible="2+"):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    auth_bytes: Bytes = field(default=b"", secret=True)
    session_lifetime_ms: Int64 = field(default=0, versions="1+")
