"""Clients for Kafka's protocol: `Channel` is one connection, `Peer` reconnects to another node of
the cluster, `NodeLink` connects from outside the cluster and negotiates versions with
ApiVersions."""

from ottla.channels.channel import Channel
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.errors import (
    ChannelError,
    NotSentError,
    RequestTimedOutError,
    UnknownRequestError,
)
from ottla.channels.node_link import NodeLink
from ottla.channels.peer import Peer, ReconnectBackoff

__all__ = [
    "PLAINTEXT",
    "Channel",
    "ChannelError",
    "ChannelSecurity",
    "NodeLink",
    "NotSentError",
    "Peer",
    "ReconnectBackoff",
    "RequestTimedOutError",
    "UnknownRequestError",
]
