"""What a metrics page says of a node, alone and compared with an earlier one."""

from __future__ import annotations

from math import inf

import pytest

from ottla.cli.top.node_load import NodeScrape, node_load, percentile
from ottla.cli.top.samples import Samples
from ottla.cli.top.traffic import LaggingGroup, TopicRates, group_lags, topic_traffic
from ottla.metrics import Metrics, TextFormat, render
from ottla.metrics.table import coordinators, process, requests, storage, topics

STARTED_AT = 1_000.0


def page(
    *,
    produced: int = 0,
    delays: tuple[float, ...] = (),
    started_at: float = STARTED_AT,
    topic: str = "orders",
) -> Samples:
    metrics = Metrics()
    metrics.gauge(process.START_TIME).set(started_at)
    metrics.gauge(process.NODE_STATE, "running").set(1)
    metrics.gauge(process.NODE_STATE, "starting").set(0)
    metrics.gauge(process.NODE_READY).set(1)
    metrics.counter(topics.TOPIC_RECEIVED_BYTES, topic).add(produced * 100)
    metrics.counter(topics.TOPIC_RECEIVED_RECORDS, topic).add(produced)
    metrics.counter(topics.TOPIC_SENT_BYTES, topic).add(0)
    metrics.counter(requests.REQUESTS, "Produce", "11").add(produced)
    metrics.counter(requests.REQUESTS, "Metadata", "12").add(1)
    loop = metrics.histogram(process.EVENT_LOOP_DELAY)
    for delay in delays:
        loop.record(delay)
    for directory, free in (("/a", 90), ("/b", 5)):
        metrics.gauge(storage.DISK_FREE, directory).set(free)
        metrics.gauge(storage.DISK_SIZE, directory).set(100)
    return Samples("".join(render(metrics, TextFormat.OPENMETRICS)))


def test_labels_with_quotes_backslashes_and_line_breaks_are_read_as_they_were_written() -> None:
    name = 'a"b\\n,c="d"\n}'
    assert page(topic=name).totals("ottla_topic_sent_bytes_total", "topic") == {name: 0}


def test_rates_are_those_between_two_scrapes() -> None:
    now, before = NodeScrape(12.0, page(produced=40)), NodeScrape(10.0, page(produced=10))
    load = node_load(now, before)
    assert (load.received_bytes, load.sent_bytes, load.requests) == (1_500.0, 0.0, 15.0)
    assert load.is_ready
    assert load.state == "running"
    assert topic_traffic([(now, before)]) == [TopicRates("orders", 1_500.0, 15.0, 0.0)]


def test_a_first_scrape_has_no_rates() -> None:
    load = node_load(NodeScrape(10.0, page(produced=10)), None)
    assert (load.received_bytes, load.requests, load.loop_delay_p99_s) == (None, None, None)


def test_a_restarted_node_has_no_rates_until_the_next_scrape() -> None:
    before = NodeScrape(10.0, page(produced=10))
    load = node_load(NodeScrape(12.0, page(produced=40, started_at=1_011.0)), before)
    assert (load.received_bytes, load.requests, load.loop_delay_p99_s) == (None, None, None)


def test_the_delay_of_the_loop_is_that_since_the_last_scrape() -> None:
    before = NodeScrape(10.0, page(delays=(3.0,) * 50))
    load = node_load(NodeScrape(12.0, page(delays=(3.0,) * 50 + (0.0006,) * 8)), before)
    assert load.loop_delay_p99_s == pytest.approx(0.001, rel=0.02)


def test_the_disk_shown_is_the_fullest() -> None:
    assert node_load(NodeScrape(1.0, page()), None).disk_used == pytest.approx(0.95)


def test_a_page_without_metrics_of_a_broker_is_shown_without_numbers() -> None:
    load = node_load(NodeScrape(1.0, Samples("")), None)
    assert (load.node_id, load.leads, load.memory_bytes, load.disk_used) == (None,) * 4
    assert not load.is_ready


def test_a_percentile_is_estimated_within_its_bucket() -> None:
    counts = {0.1: 50.0, 0.2: 100.0, inf: 100.0}
    assert percentile(counts, 0.5) == pytest.approx(0.1)
    assert percentile(counts, 0.75) == pytest.approx(0.15)
    assert percentile({0.1: 0.0, inf: 4.0}, 0.99) == 0.1
    assert percentile({0.1: 0.0, inf: 0.0}, 0.99) is None


def test_the_groups_with_the_largest_lag_come_first_and_those_without_are_left_out() -> None:
    metrics = Metrics()
    lags = (
        ("slow", "0", 5, 60.0),
        ("slow", "1", 7, 90.0),
        ("idle", "0", 0, 0.0),
        ("new", "0", 9, 1.0),
    )
    for group, partition, records, seconds in lags:
        metrics.gauge(coordinators.GROUP_LAG_RECORDS, group, "orders", partition).set(records)
        metrics.gauge(coordinators.GROUP_LAG_SECONDS, group, "orders", partition).set(seconds)
    samples = Samples("".join(render(metrics, TextFormat.OPENMETRICS)))
    assert group_lags([NodeScrape(1.0, samples)]) == [
        LaggingGroup("slow", "orders", 12, 90.0),
        LaggingGroup("new", "orders", 9, 1.0),
    ]
