"""Why a request to another node has no response. All errors are a `ChannelError`.

Unless it is a `NotSentError`, it is unknown whether the other node processed the request; most
requests between nodes can be repeated.
"""

from __future__ import annotations


class ChannelError(ConnectionError):
    """The node could not be reached, or the connection closed before the response."""


class NotSentError(ChannelError):
    """The request was not sent, because there is no connection."""


class RequestTimedOutError(ChannelError):
    """The node is connected and did not respond in time."""


class UnknownRequestError(ChannelError):
    """The node is connected but supports no version of the request that is implemented here."""
