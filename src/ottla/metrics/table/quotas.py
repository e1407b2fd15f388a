"""Quotas of clients: what those with a quota use, and by how much they are throttled."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

_LABELS: Final = ("quota", "user", "client_id")

QUOTA_USAGE: Final = gauge(
    "ottla_quota_usage",
    "What the clients that share a quota use on this node, in the unit of the quota: bytes per "
    "second for producer_byte_rate and consumer_byte_rate, percent of the time of the node's event "
    "loop for request_percentage, partitions per second for controller_mutation_rate. An empty "
    "user or client id means any.",
    *_LABELS,
    kafka="kafka.server:type={Produce,Fetch,Request,ControllerMutation},user=*,client-id=*"
    "#byte-rate,request-time,mutation-rate",
)
QUOTA_LIMIT: Final = gauge(
    "ottla_quota_limit",
    "The quota of these clients.",
    *_LABELS,
)
QUOTA_THROTTLED: Final = counter(
    "ottla_quota_throttled_seconds_total",
    "Time by which the node has throttled these clients because of the quota.",
    *_LABELS,
    kafka="kafka.server:type={Produce,Fetch,Request},user=*,client-id=*#throttle-time",
)

QUOTA_FAMILIES: Final = (QUOTA_USAGE, QUOTA_LIMIT, QUOTA_THROTTLED)
