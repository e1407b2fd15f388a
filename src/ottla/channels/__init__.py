"""Connections of Kafka's protocol: `Channel` is one, `Peer` reconnects to a node."""

from ottla.channels.channel import Channel
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.errors import (
    ChannelError,
    NotSentError,
    RequestTimedOutError,
    UnknownRequestError,
)
from ottla.channels.peer import Peer, ReconnectBackoff

__all__ = [
    "PLAINTEXT",
    "Channel",
    "ChannelError",
    "ChannelSecurity",
    "NotSentError",
    "Peer",
    "ReconnectBackoff",
    "RequestTimedOutError",
    "UnknownRequestError",
]
