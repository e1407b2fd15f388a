"""What the configs of a subscription to client metrics mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLIENT_METRICS_TEXTS: Final[Mapping[str, str]] = {
    "interval.ms": (
        "How often matching clients push their metrics, in milliseconds: from 100 to 3600000. The "
        "shortest interval of all subscriptions that match a client applies."
    ),
    "match": (
        "Which clients are subscribed: a list of NAME=REGULAR EXPRESSION, all of which must match "
        "the whole value. The names are client_id, client_instance_id, client_software_name, "
        "client_software_version, client_source_address and client_source_port. Empty matches all "
        "clients."
    ),
    "metrics": (
        "Prefixes of the names of metrics that clients push, such as "
        "org.apache.kafka.consumer.fetch.manager; * is all metrics."
    ),
}
