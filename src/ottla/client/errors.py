"""Why a request to another node has no answer. All of it is a `ChannelError`.

Whether the other node acted on the request is unknown unless the connection was never made; what
is sent between nodes can be sent again.
"""

from __future__ import annotations


class ChannelError(ConnectionError):
    """The node could not be reached, or the connection ended before it answered."""


class RequestTimedOutError(ChannelError):
    """The node is connected and did not answer in time."""


class UnknownRequestError(ChannelError):
    """The node is connected and serves no version of the request that is known here."""
