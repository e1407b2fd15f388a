"""The headers of requests and responses.

The client id keeps its old length encoding in all versions, so that a broker can read the header of
a request of an unknown version.
"""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message, Text, field


class RequestHeader(Message, versions="1-2", flexible="2+"):
    request_api_key: Int16 = 0
    request_api_version: Int16 = 0
    correlation_id: Int32 = 0
    client_id: Text | None = field(default="", flexible="none")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: Int32 = 0
