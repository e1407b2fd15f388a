"""The panels of the Grafana dashboard: the one table from which `grafana_dashboard.py` makes it.

`$cluster` and `$node` are the choices at the top of the dashboard.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Panel(NamedTuple):
    """`unit` is Grafana's name of a unit; `legend` names the labels of a series. A panel with
    `is_number` shows the present value, the others a graph."""

    title: str
    expression: str
    unit: str
    description: str
    legend: str = "{{instance}}"
    is_number: bool = False


_OF: Final = 'cluster=~"$cluster",instance=~"$node"'
_OF_CLUSTER: Final = 'cluster=~"$cluster"'


def _number(title: str, expression: str, description: str, unit: str = "short") -> Panel:
    return Panel(title, expression, unit, description, "", is_number=True)


def _sum(name: str) -> str:
    return f"sum({name}{{{_OF_CLUSTER}}})"


def _rate(name: str, by: str = "instance", more: str = "") -> str:
    return f"sum by ({by}) (rate({name}{{{_OF}{more}}}[$__rate_interval]))"


def _p99(name: str, by: str = "instance", more: str = "") -> str:
    return f"histogram_quantile(0.99, {_rate(f'{name}_bucket', f'{by}, le', more)})"


ROWS: Final[Mapping[str, tuple[Panel, ...]]] = {
    "Health": (
        _number(
            "Nodes that answer",
            f'sum(up{{job="ottla",{_OF_CLUSTER}}})',
            "Nodes that Prometheus can scrape.",
        ),
        _number("Nodes ready", _sum("ottla_node_ready"), "Nodes that serve requests."),
        _number("Active controllers", _sum("ottla_active_controller"), "Must be 1."),
        _number(
            "Offline partitions",
            f"max(ottla_offline_partitions{{{_OF_CLUSTER}}} "
            "and on (cluster, instance) ottla_active_controller == 1)",
            "Partitions without a leader.",
        ),
        _number(
            "Under min ISR",
            _sum("ottla_under_min_isr_partitions"),
            "Partitions that refuse producers with acks=all.",
        ),
        _number(
            "Under-replicated",
            _sum("ottla_under_replicated_partitions"),
            "Partitions with fewer in-sync replicas than replicas.",
        ),
    ),
    "Traffic": (
        Panel(
            "Bytes in by topic",
            _rate("ottla_topic_received_bytes_total", "topic"),
            "Bps",
            "Record batches of producers.",
            "{{topic}}",
        ),
        Panel(
            "Bytes out by topic",
            _rate("ottla_topic_sent_bytes_total", "topic"),
            "Bps",
            "Record batches to consumers.",
            "{{topic}}",
        ),
        Panel(
            "Records in by topic",
            _rate("ottla_topic_received_records_total", "topic"),
            "cps",
            "Records of producers.",
            "{{topic}}",
        ),
        Panel(
            "Replication in",
            _rate("ottla_replication_received_bytes_total"),
            "Bps",
            "Record batches that followers fetched.",
        ),
    ),
    "Requests": (
        Panel(
            "Requests by API",
            _rate("ottla_requests_total", "api"),
            "reqps",
            "Requests that nodes handled.",
            "{{api}}",
        ),
        Panel(
            "Errors by API",
            _rate("ottla_request_errors_total", "api, error"),
            "cps",
            "Error codes in responses.",
            "{{api}} {{error}}",
        ),
        Panel(
            "Produce, 99th percentile",
            _p99("ottla_request_seconds", more=',api="Produce"'),
            "s",
            "From the arrival of a request until its response was written.",
        ),
        Panel(
            "Produce by phase, 99th percentile",
            _p99("ottla_request_phase_seconds", "phase", ',api="Produce"'),
            "s",
            "Where the time of Produce requests goes.",
            "{{phase}}",
        ),
        Panel(
            "Requests that wait",
            f"sum by (api) (ottla_requests_waiting{{{_OF}}})",
            "short",
            "For replicas, records or members.",
            "{{api}}",
        ),
        Panel(
            "Connections",
            f"sum by (instance, listener) (ottla_connections{{{_OF}}})",
            "short",
            "Open connections.",
            "{{instance}} {{listener}}",
        ),
        Panel(
            "Failed authentications",
            _rate("ottla_authentications_total", "instance, mechanism", ',outcome="failed"'),
            "cps",
            "Clients that could not authenticate.",
            "{{instance}} {{mechanism}}",
        ),
        Panel(
            "Refused connections",
            _rate("ottla_connections_refused_total"),
            "cps",
            "Connections above max.connections.per.ip.",
        ),
    ),
    "Replication and controllers": (
        Panel(
            "Leaders",
            f"ottla_leader_partitions{{{_OF}}}",
            "short",
            "Partitions that each node leads.",
        ),
        Panel("ISR shrinks", _rate("ottla_isr_shrinks_total"), "cps", "Replicas that left an ISR."),
        Panel(
            "Largest lag of followers",
            f"max by (instance) (ottla_fetcher_lag_records_max{{{_OF}}})",
            "short",
            "Records by which a follower is behind its leader.",
        ),
        Panel(
            "Quorum leader",
            f"ottla_quorum_leader{{{_OF}}}",
            "none",
            "Node id of the leader that each node knows; -1: none.",
        ),
        Panel(
            "Lag of quorum replicas",
            f"max by (replica, role) (ottla_quorum_replica_lag_records{{{_OF_CLUSTER}}})",
            "short",
            "Metadata records behind the leader.",
            "{{replica}} ({{role}})",
        ),
        Panel(
            "Brokers",
            f"max by (state) (ottla_cluster_brokers{{{_OF_CLUSTER}}})",
            "short",
            "Registered brokers by state.",
            "{{state}}",
        ),
    ),
    "Groups and transactions": (
        Panel(
            "Group lag in records",
            f"sum by (group, topic) (ottla_group_lag_records{{{_OF_CLUSTER}}})",
            "short",
            "Records that groups have still to read.",
            "{{group}} {{topic}}",
        ),
        Panel(
            "Group lag in seconds",
            f"max by (group, topic) (ottla_group_lag_seconds{{{_OF_CLUSTER}}})",
            "s",
            "Age of the oldest record that a group has not committed.",
            "{{group}} {{topic}}",
        ),
        Panel(
            "Groups",
            f"sum by (type, state) (ottla_groups{{{_OF_CLUSTER}}})",
            "short",
            "Groups by type and state.",
            "{{type}} {{state}}",
        ),
        Panel(
            "Oldest transaction",
            f"max by (instance) (ottla_transactions_oldest_seconds{{{_OF}}})",
            "s",
            "Age of the oldest open transaction.",
        ),
    ),
    "Nodes": (
        Panel(
            "Event loop delay, 99th percentile",
            _p99("ottla_event_loop_delay_seconds"),
            "s",
            "How long requests wait for other work of the node.",
        ),
        Panel(
            "Processor time",
            f"rate(process_cpu_seconds_total{{{_OF}}}[$__rate_interval])",
            "percentunit",
            "Of one core; a node uses one core.",
        ),
        Panel("Memory", f"process_resident_memory_bytes{{{_OF}}}", "bytes", "Resident memory."),
        Panel(
            "Disk used",
            f"1 - ottla_disk_free_bytes{{{_OF}}} / ottla_disk_size_bytes{{{_OF}}}",
            "percentunit",
            "Of the devices of log directories.",
            "{{instance}} {{directory}}",
        ),
        Panel(
            "Log flush, 99th percentile",
            _p99("ottla_log_flush_seconds"),
            "s",
            "Time to flush a log to its device.",
        ),
        Panel(
            "Open files",
            f"process_open_fds{{{_OF}}} / process_max_fds{{{_OF}}}",
            "percentunit",
            "Of the limit of the process.",
        ),
        Panel(
            "Garbage collection",
            f"rate(ottla_gc_seconds_total{{{_OF}}}[$__rate_interval])",
            "percentunit",
            "Share of the time.",
        ),
        Panel(
            "Largest topics",
            f"topk(10, sum by (topic) (ottla_log_size_bytes{{{_OF}}}))",
            "bytes",
            "Size of the logs of all replicas.",
            "{{topic}}",
        ),
    ),
}
