"""Requests of clients and other nodes, and the connections over which they come."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram

_REQUESTS: Final = "kafka.network:type=RequestMetrics,name={},request=*"
_SOCKETS: Final = "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*"

REQUESTS: Final = counter(
    "ottla_requests_total",
    "Requests that the node has handled, by API and version of the API. Fetch requests of "
    "consumers and of followers are counted apart, as FetchConsumer and FetchFollower.",
    "api",
    "version",
    kafka="kafka.network:type=RequestMetrics,name=RequestsPerSec,request=*,version=*",
)
REQUEST_ERRORS: Final = counter(
    "ottla_request_errors_total",
    "Error codes other than NONE in responses, by API. A response with errors for several "
    "partitions counts once for each of them.",
    "api",
    "error",
    kafka="kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=*,error=*",
)
REQUEST_BYTES: Final = counter(
    "ottla_request_bytes_total",
    "Bytes of the requests that the node has handled, by API.",
    "api",
    kafka=_REQUESTS.format("RequestBytes"),
)
REQUEST_SECONDS: Final = histogram(
    "ottla_request_seconds",
    "Time from the arrival of a request until its response was written to the connection, by API. "
    "While an API has more than 1,000 requests per second, one of 32 is timed and counts as 32.",
    "api",
    kafka=_REQUESTS.format("TotalTimeMs"),
)
REQUEST_PHASE_SECONDS: Final = histogram(
    "ottla_request_phase_seconds",
    "The parts of ottla_request_seconds, of the same requests. queue: until the request was "
    "handled; a request waits for the earlier ones of its connection. local: handling on this "
    "node. remote: waiting for other nodes, for records (long polls) or for members of a group. "
    "throttle: delay by quotas. send: until the response was written; a response waits for the "
    "earlier ones of its connection.",
    "api",
    "phase",
    kafka="kafka.network:type=RequestMetrics,name={RequestQueueTimeMs,LocalTimeMs,RemoteTimeMs,"
    "ThrottleTimeMs,ResponseSendTimeMs},request=*",
)
REQUESTS_WAITING: Final = gauge(
    "ottla_requests_waiting",
    "Requests that wait for a response, by API: Produce requests for replicas, Fetch requests for "
    "records, JoinGroup requests for other members.",
    "api",
    kafka="kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=*",
)
REQUESTS_REJECTED: Final = counter(
    "ottla_requests_rejected_total",
    "Connections that the node closed because of a request that it cannot read or does not serve, "
    "by listener.",
    "listener",
)

CONNECTIONS: Final = gauge(
    "ottla_connections",
    "Open connections, by listener.",
    "listener",
    kafka=f"{_SOCKETS}#connection-count",
)
CONNECTIONS_ACCEPTED: Final = counter(
    "ottla_connections_accepted_total",
    "Connections that were accepted, by listener.",
    "listener",
    kafka=f"{_SOCKETS}#connection-creation-total",
)
CONNECTIONS_CLOSED: Final = counter(
    "ottla_connections_closed_total",
    "Connections that have ended, by listener.",
    "listener",
    kafka=f"{_SOCKETS}#connection-close-total",
)
CONNECTIONS_REFUSED: Final = counter(
    "ottla_connections_refused_total",
    "Connections that were closed because their host has max.connections.per.ip connections, by "
    "listener.",
    "listener",
)
NETWORK_RECEIVED_BYTES: Final = counter(
    "ottla_network_received_bytes_total",
    "Bytes received over connections to this node, by listener.",
    "listener",
    kafka=f"{_SOCKETS}#incoming-byte-total",
)
NETWORK_SENT_BYTES: Final = counter(
    "ottla_network_sent_bytes_total",
    "Bytes of responses written to connections to this node, by listener.",
    "listener",
    kafka=f"{_SOCKETS}#outgoing-byte-total",
)
AUTHENTICATIONS: Final = counter(
    "ottla_authentications_total",
    "Authentications of clients, by listener, mechanism (TLS or a SASL mechanism) and outcome "
    "(succeeded or failed).",
    "listener",
    "mechanism",
    "outcome",
    kafka=f"{_SOCKETS}#successful-authentication-total, failed-authentication-total",
)
CERTIFICATE_NOT_AFTER: Final = gauge(
    "ottla_certificate_not_after_seconds",
    "When the certificate that a listener with TLS presents expires, in seconds since the Unix "
    "epoch. Intermediate certificates may expire earlier.",
    "listener",
)
AUTHORIZATIONS: Final = counter(
    "ottla_authorizations_total",
    "Decisions of the authorizer, by outcome (allowed or denied). A decision that a connection has "
    "cached is not counted again.",
    "outcome",
    kafka="kafka.server:type=authorizer-metrics#authorization-allowed-rate-per-minute, "
    "authorization-denied-rate-per-minute",
)

REQUEST_FAMILIES: Final = (
    REQUESTS,
    REQUEST_ERRORS,
    REQUEST_BYTES,
    REQUEST_SECONDS,
    REQUEST_PHASE_SECONDS,
    REQUESTS_WAITING,
    REQUESTS_REJECTED,
    CONNECTIONS,
    CONNECTIONS_ACCEPTED,
    CONNECTIONS_CLOSED,
    CONNECTIONS_REFUSED,
    NETWORK_RECEIVED_BYTES,
    NETWORK_SENT_BYTES,
    AUTHENTICATIONS,
    CERTIFICATE_NOT_AFTER,
    AUTHORIZATIONS,
)
