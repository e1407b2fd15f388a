"""A broker forwards a client's request to the controller, with the client's principal (KIP-590).

The principal is encoded as a version and `DefaultPrincipalData`, unless a plugin has its own
encoding. Requests and responses may contain secrets.
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Bytes, Int16, Message, Text, field


class EnvelopeRequest(Message, api_key=58, versions="0", flexible="0+"):
    request_data: Bytes = field(default=b"", secret=True)
    request_principal: Bytes | None = b""
    client_host_address: Bytes = b""


class EnvelopeResponse(Message, api_key=58, versions="0", flexible="0+"):
    response_data: Bytes | None = field(default=None, secret=True)
    error_code: Int16 = 0


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    type: Text = ""
    name: Text = ""
    token_authenticated: Bool = False
