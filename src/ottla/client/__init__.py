"""How nodes talk to each other: one connection, and a peer that is connected to again and again."""

from ottla.client.channel import Channel
from ottla.client.errors import ChannelError, RequestTimedOutError
from ottla.client.peer import Peer, ReconnectBackoff

__all__ = ["Channel", "ChannelError", "Peer", "ReconnectBackoff", "RequestTimedOutError"]
