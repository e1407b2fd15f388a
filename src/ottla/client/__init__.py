"""Clients for Kafka's protocol: `Channel` is one connection, `Peer` reconnects to another node of
the cluster, `NodeLink` connects from outside the cluster and negotiates versions with
ApiVersions."""

from ottla.client.channel import Channel
from ottla.client.channel_security import PLAINTEXT, ChannelSecurity
from ottla.client.errors import (
    ChannelError,
    NotSentError,
    RequestTimedOutError,
    UnknownRequestError,
)
from ottla.client.node_link import NodeLink
from ottla.client.peer import Peer, ReconnectBackoff

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
