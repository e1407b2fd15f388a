"""The load of one node: what its metrics say now, and rates between two scrapes."""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from ottla.cli.top.samples import Samples
from ottla.metrics.table import controllers, process, replication, requests, storage, topics

_P99: Final = 0.99
_PRODUCE: Final = "Produce"


class NodeScrape(NamedTuple):
    """`at_s` is the time of a monotonic clock."""

    at_s: float
    samples: Samples


class NodeLoad(NamedTuple):
    """Rates are per second; they and the percentiles are None until there are two scrapes of the
    same process. Latencies are None if there was no request in between."""

    node_id: int | None
    cluster_id: str | None
    state: str
    is_ready: bool
    is_active_controller: bool
    received_bytes: float | None
    sent_bytes: float | None
    requests: float | None
    produce_p99_s: float | None
    loop_delay_p99_s: float | None
    memory_bytes: float | None
    # Of the fullest disk of a log directory.
    disk_used: float | None
    leads: int | None
    under_replicated: int | None
    # None for a node that is not a controller.
    offline_partitions: int | None


def node_load(now: NodeScrape, before: NodeScrape | None) -> NodeLoad:
    samples = now.samples
    if before is not None and not _is_same_process(before.samples, samples):
        before = None
    info = next((labels for labels, _ in samples.of(process.NODE_INFO.name)), {})
    return NodeLoad(
        node_id=int(info["node_id"]) if info.get("node_id", "").isdigit() else None,
        cluster_id=info.get("cluster_id"),
        state=_state(samples),
        is_ready=samples.value(process.NODE_READY.name) == 1,
        is_active_controller=samples.value(controllers.ACTIVE_CONTROLLER.name) == 1,
        received_bytes=_rate(topics.TOPIC_RECEIVED_BYTES.name, now, before),
        sent_bytes=_rate(topics.TOPIC_SENT_BYTES.name, now, before),
        requests=_rate(requests.REQUESTS.name, now, before),
        produce_p99_s=_p99(requests.REQUEST_SECONDS.name, now, before, api=_PRODUCE),
        loop_delay_p99_s=_p99(process.EVENT_LOOP_DELAY.name, now, before),
        memory_bytes=samples.value(process.RESIDENT_MEMORY.name),
        disk_used=_disk_used(samples),
        leads=_count(samples, replication.LEADER_PARTITIONS.name),
        under_replicated=_count(samples, replication.UNDER_REPLICATED_PARTITIONS.name),
        offline_partitions=_count(samples, controllers.OFFLINE_PARTITIONS.name),
    )


def rate_between(now: float, before: float, seconds: float) -> float | None:
    """None if the counter has begun anew or no time has passed."""
    return None if seconds <= 0 or now < before else (now - before) / seconds


def percentile(counts: dict[float, float], fraction: float) -> float | None:
    """Estimated from cumulative counts by upper bound, linearly within a bucket, as Prometheus's
    histogram_quantile does. None if nothing was counted."""
    total = counts.get(inf, 0.0)
    if total <= 0:
        return None
    wanted = fraction * total
    lower, below = 0.0, 0.0
    for bound, count in counts.items():
        if count >= wanted:
            if bound == inf or count == below:
                return lower
            return lower + (bound - lower) * (wanted - below) / (count - below)
        lower, below = bound, count
    return lower


def _is_same_process(before: Samples, now: Samples) -> bool:
    started = process.START_TIME.name
    return before.value(started) == now.value(started)


def _state(samples: Samples) -> str:
    states = samples.of(process.NODE_STATE.name)
    return next((labels["state"] for labels, value in states if value == 1), "unknown")


def _rate(name: str, now: NodeScrape, before: NodeScrape | None) -> float | None:
    if before is None:
        return None
    seconds = now.at_s - before.at_s
    return rate_between(now.samples.total(name), before.samples.total(name), seconds)


def _p99(name: str, now: NodeScrape, before: NodeScrape | None, **labels: str) -> float | None:
    if before is None:
        return None
    earlier = before.samples.buckets(name, **labels)
    counts = now.samples.buckets(name, **labels)
    return percentile({each: counts[each] - earlier.get(each, 0.0) for each in counts}, _P99)


def _disk_used(samples: Samples) -> float | None:
    sizes = samples.totals(storage.DISK_SIZE.name, "directory")
    free = samples.totals(storage.DISK_FREE.name, "directory")
    used = [1 - free[path] / size for path, size in sizes.items() if size and path in free]
    return max(used, default=None)


def _count(samples: Samples, name: str) -> int | None:
    value = samples.value(name)
    return None if value is None else int(value)
