"""Topics and groups over all nodes that answered: rates between two scrapes, and lag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ottla.cli.top.node_load import NodeScrape, rate_between
from ottla.metrics.table import coordinators, topics


class TopicRates(NamedTuple):
    """Per second."""

    topic: str
    received_bytes: float
    received_records: float
    sent_bytes: float


class LaggingGroup(NamedTuple):
    """`records` over all partitions of the topic; `seconds` of the partition with the largest."""

    group: str
    topic: str
    records: int
    seconds: float


def topic_traffic(
    scrapes: Iterable[tuple[NodeScrape, NodeScrape | None]],
) -> list[TopicRates]:
    """From pairs of the present and the previous scrape of a node; the busiest topics first. A
    topic without traffic is left out."""
    names = (
        topics.TOPIC_RECEIVED_BYTES.name,
        topics.TOPIC_RECEIVED_RECORDS.name,
        topics.TOPIC_SENT_BYTES.name,
    )
    rates: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * len(names))
    for now, before in scrapes:
        if before is None:
            continue
        for index, name in enumerate(names):
            earlier = before.samples.totals(name, "topic")
            for topic, value in now.samples.totals(name, "topic").items():
                rate = rate_between(value, earlier.get(topic, 0.0), now.at_s - before.at_s)
                rates[topic][index] += rate or 0.0
    found = [TopicRates(topic, *values) for topic, values in rates.items() if any(values)]
    return sorted(found, key=lambda each: (-each.received_bytes - each.sent_bytes, each.topic))


def group_lags(scrapes: Iterable[NodeScrape]) -> list[LaggingGroup]:
    """The largest lags first; groups without lag are left out."""
    records: defaultdict[tuple[str, str], float] = defaultdict(float)
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    for each in scrapes:
        for labels, value in each.samples.of(coordinators.GROUP_LAG_RECORDS.name):
            records[labels["group"], labels["topic"]] += value
        for labels, value in each.samples.of(coordinators.GROUP_LAG_SECONDS.name):
            key = labels["group"], labels["topic"]
            seconds[key] = max(seconds[key], value)
    found = [LaggingGroup(*key, int(lag), seconds[key]) for key, lag in records.items() if lag]
    return sorted(found, key=lambda each: (-each.records, each.group, each.topic))
