"""Chooses the SASL mechanism of a connection (KIP-43).

After version 1 the client sends its tokens in SaslAuthenticate requests (KIP-152); after version 0
it sends them without headers.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Message, Text, field


class SaslHandshakeRequest(Message, api_key=17, versions="0-1"):
    mechanism: Text = ""


class SaslHandshakeResponse(Message, api_key=17, versions="0-1"):
    error_code: Int16 = 0
    mechanisms: list[Text] = field(factory=list)
