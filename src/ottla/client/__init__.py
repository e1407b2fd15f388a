"""How nodes talk to each other: one connection, and a peer that is connected to again and again.
How others talk to nodes: a link, which asks first what a node speaks."""

from ottla.client.channel import Channel
from ottla.client.errors import ChannelError, RequestTimedOutError, UnknownRequestError
from ottla.client.node_link import NodeLink
from ottla.client.peer import Peer, ReconnectBackoff

__all__ = [
    "Channel",
    "ChannelError",
    "NodeLink",
    "Peer",
    "ReconnectBackoff",
    "RequestTimedOutError",
    "UnknownRequestError",
]
