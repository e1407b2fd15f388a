"""A cluster's status as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ottla.cli.cluster.status import BrokerView, ClusterStatus, PartitionPlace
from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.display.cells import NOTHING, count
from ottla.cli.display.terminal import new_table
from ottla.client.administration.quorum import QuorumReplica

PARTITIONS_SHOWN_MAX: Final = 20
# A follower of an idle leader fetches twice a second.
_BEHIND_MS_SHOWN_MIN: Final = 2_000


class ProcessView(NamedTuple):
    """A node of this host: the state of its process, and its address."""

    text: str
    address: str
    is_well: bool


def status_view(
    status: ClusterStatus, processes: Mapping[int, ProcessView], *, now_ms: int
) -> RenderableType:
    parts: list[RenderableType] = [*_headlines(status), _nodes_table(status, processes, now_ms)]
    lacking = status.under_replicated
    if lacking:
        parts += ["", _partitions_table(lacking[:PARTITIONS_SHOWN_MAX])]
        if len(lacking) > PARTITIONS_SHOWN_MAX:
            parts.append(f"... and {len(lacking) - PARTITIONS_SHOWN_MAX:,} more")
    return Group(*parts)


def status_json(status: ClusterStatus, processes: Mapping[int, ProcessView]) -> dict[str, Any]:
    quorum = status.quorum
    return {
        "cluster_id": status.cluster_id,
        "is_well": status.is_well and all(process.is_well for process in processes.values()),
        "controller": None if quorum is None else quorum.leader_id,
        "controller_epoch": None if quorum is None else quorum.leader_epoch,
        "partitions": len(status.partitions),
        "brokers": [
            {**broker._asdict(), "address": address_text(broker.address)}
            for broker in status.brokers
        ],
        "controllers": [
            {"id": replica.id, "role": replica.role, "lag": replica.lag}
            for replica in ([] if quorum is None else quorum.replicas)
        ],
        "processes": {str(node_id): process.text for node_id, process in processes.items()},
        "without_leader": [_name(partition) for partition in status.without_leader],
        "under_replicated": [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "leader": partition.leader,
                "replicas": list(partition.replicas),
                "in_sync": list(partition.in_sync),
            }
            for partition in status.under_replicated
        ],
    }


def _headlines(status: ClusterStatus) -> tuple[Text, Text]:
    cluster = Text.assemble(("cluster ", "dim"), status.cluster_id, ", ")
    if status.quorum is None:
        cluster.append("no active controller", "red")
    else:
        cluster.append(
            f"controller {status.quorum.leader_id} is active (epoch {status.quorum.leader_epoch})"
        )
    serving = sum(not broker.is_fenced for broker in status.brokers)
    line = Text(f"{serving} of {count(len(status.brokers), 'broker')} serving, ")
    line.append(count(len(status.partitions), "partition"))
    if status.without_leader:
        line.append(f", {len(status.without_leader):,} without a leader", "red")
    if status.under_replicated:
        line.append(f", {len(status.under_replicated):,} under-replicated", "yellow")
    elif status.partitions:
        line.append(", all in sync", "green")
    return cluster, line


def _nodes_table(status: ClusterStatus, processes: Mapping[int, ProcessView], now_ms: int) -> Table:
    numbers = ("node", "leads", "replicas", "in sync", "lag")
    titles = ["node", "address", "broker", "leads", "replicas", "in sync", "lag", "controller"]
    if processes:
        titles.insert(1, "process")
    table = new_table(*titles, right=numbers)
    brokers = {broker.id: broker for broker in status.brokers}
    quorum = () if status.quorum is None else status.quorum.replicas
    controllers = {replica.id: replica for replica in quorum}
    for node_id in sorted({*brokers, *controllers, *processes}):
        broker, process = brokers.get(node_id), processes.get(node_id)
        cells: list[Text | str] = [str(node_id)]
        if processes:
            cells.append(NOTHING if process is None else _process_cell(process))
        cells += [_address(broker, process), *_broker_cells(broker)]
        table.add_row(*cells, _controller_cell(controllers.get(node_id), now_ms))
    return table


def _process_cell(process: ProcessView) -> Text:
    return Text(process.text, style="" if process.is_well else "red")


def _address(broker: BrokerView | None, process: ProcessView | None) -> str:
    if broker is not None:
        return address_text(broker.address)
    return NOTHING if process is None else process.address


def _broker_cells(broker: BrokerView | None) -> list[Text | str]:
    if broker is None:
        return [NOTHING] * 5
    state = Text("fenced", style="red") if broker.is_fenced else Text("serving", style="green")
    behind = broker.in_sync < broker.replicas
    return [
        state,
        f"{broker.leads:,}",
        f"{broker.replicas:,}",
        Text(f"{broker.in_sync:,}", style="yellow" if behind else ""),
        NOTHING if broker.lag is None else f"{broker.lag:,}",
    ]


def _controller_cell(replica: QuorumReplica | None, now_ms: int) -> Text:
    if replica is None:
        return Text(NOTHING)
    if replica.is_leader:
        return Text("active", style="green")
    text = Text(replica.role)
    if replica.last_caught_up_ms is None:
        text.append(", has not caught up", "yellow")
    elif (behind_ms := now_ms - replica.last_caught_up_ms) > _BEHIND_MS_SHOWN_MIN:
        text.append(f", behind by {behind_ms / 1_000:.0f} s", "yellow")
    return text


def _partitions_table(partitions: list[PartitionPlace]) -> Table:
    table = new_table("partition", "leader", "replicas", "in sync")
    for partition in partitions:
        has_leader = partition.leader >= 0
        table.add_row(
            _name(partition),
            str(partition.leader) if has_leader else Text("none", style="red"),
            ", ".join(map(str, partition.replicas)),
            Text(", ".join(map(str, partition.in_sync)) or "none", style="yellow"),
        )
    return table


def _name(partition: PartitionPlace) -> str:
    return f"{partition.topic}-{partition.partition}"
