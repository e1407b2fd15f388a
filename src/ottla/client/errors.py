"""Why a request to another node has no response. All errors are a `ChannelError`.

Unless the connection was never made, it is unknown whether the other node processed the request;
requests between nodes can be repeated.
"""

from __future__ import annotations


class ChannelError(ConnectionError):
    """The node could not be reached, or the connection closed before the response."""


class RequestTimedOutError(ChannelError):
    """The node is connected and did not respond in time."""


class UnknownRequestError(ChannelError):
    """The node is connected but supports no version of the request that is implemented here."""
