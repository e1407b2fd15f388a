"""What the broker configs mean: listeners and connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NETWORK_TEXTS: Final[Mapping[str, str]] = {
    "advertised.listeners": (
        "Addresses under which clients and other nodes reach this node, as NAME://HOST:PORT, "
        "separated by commas. Set it if the addresses in listeners cannot be reached from "
        "outside. The default is the value of listeners."
    ),
    "background.threads": "Number of threads for background work such as deleting files.",
    "connection.failed.authentication.delay.ms": (
        "How long the broker delays the response to a failed SASL authentication, in milliseconds."
    ),
    "connections.max.idle.ms": (
        "Idle time after which the broker closes a connection, in milliseconds; a negative value "
        "keeps idle connections open."
    ),
    "early.start.listeners": (
        "Listeners that accept connections before the node has finished starting. The names are "
        "checked against listeners."
    ),
    "fetch.max.bytes": (
        "Largest response to a consumer's fetch request, in bytes. A single batch that is larger "
        "is returned nevertheless, so that the consumer can make progress."
    ),
    "inter.broker.listener.name": (
        "Listener through which brokers connect to each other. The default is the listener whose "
        "name is the value of security.inter.broker.protocol."
    ),
    "listener.security.protocol.map": (
        "Security protocol of each listener name, as NAME:PROTOCOL, separated by commas. The "
        "protocols are PLAINTEXT, SSL, SASL_PLAINTEXT (SASL without encryption) and SASL_SSL."
    ),
    "listeners": (
        "Addresses on which the node accepts connections, as NAME://HOST:PORT, separated by "
        "commas. An empty host listens on every interface. A running node cannot change them."
    ),
    "max.connection.creation.rate": (
        "Largest number of connections that the broker accepts in a second."
    ),
    "max.connections": (
        "Largest number of connections to the broker at the same time. Ottla also keeps below "
        "the limit of open files. A listener can have a limit of its own as "
        "listener.name.<listener>.max.connections."
    ),
    "max.connections.per.ip": "Largest number of connections from one IP address at the same time.",
    "max.connections.per.ip.overrides": (
        "Exceptions from max.connections.per.ip, as HOST:COUNT, separated by commas."
    ),
    "max.incremental.fetch.session.cache.slots": (
        "Largest number of incremental fetch sessions that the broker remembers. Without a "
        "session, a client sends all of its partitions with each fetch."
    ),
    "max.request.partition.size.limit": (
        "Largest number of partitions in one response to DescribeTopicPartitions. A client that "
        "requests more continues from a cursor."
    ),
    "num.io.threads": (
        "Number of threads that handle requests. Ottla handles requests in one thread and "
        "leaves slow work to a pool of its own."
    ),
    "num.network.threads": (
        "Number of threads for each listener that read requests and write responses. Ottla does "
        "this in one thread."
    ),
    "queued.max.request.bytes": (
        "Largest number of bytes of requests that wait to be handled, or -1 for no limit."
    ),
    "queued.max.requests": (
        "Largest number of requests that wait to be handled before the broker stops reading more."
    ),
    "request.timeout.ms": (
        "How long the broker waits for the completion of a request that it sends on behalf of a "
        "client, such as adding partitions to a transaction or writing transaction markers, in "
        "milliseconds."
    ),
    "security.inter.broker.protocol": (
        "Security protocol between brokers, which also names their listener if "
        "inter.broker.listener.name is not set."
    ),
    "socket.connection.setup.timeout.max.ms": (
        "Longest time that the node waits for a connection to another node to be established, "
        "in milliseconds. The wait grows from socket.connection.setup.timeout.ms with each "
        "failure."
    ),
    "socket.connection.setup.timeout.ms": (
        "How long the node waits at first for a connection to another node to be established, "
        "in milliseconds."
    ),
    "socket.listen.backlog.size": (
        "Number of connections that may wait to be accepted. Ottla asks the operating "
        "system to let 1024 wait."
    ),
    "socket.receive.buffer.bytes": (
        "Size of the receive buffer of each socket (SO_RCVBUF), in bytes; -1 is the default of "
        "the operating system. Ottla leaves the size to the operating system."
    ),
    "socket.request.max.bytes": (
        "Largest request that the broker accepts, in bytes. It closes the connection of a "
        "client that sends a larger one."
    ),
    "socket.send.buffer.bytes": (
        "Size of the send buffer of each socket (SO_SNDBUF), in bytes; -1 is the default of the "
        "operating system. Ottla leaves the size to the operating system."
    ),
}
