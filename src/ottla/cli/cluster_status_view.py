"""A cluster's state as tables for people and as an object for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ottla.cli.bootstrap_addresses import address_text
from ottla.cli.cells import NOTHING, count
from ottla.cli.cluster_status import BrokerView, ClusterStatus, ControllerView, PartitionPlace
from ottla.cli.terminal import new_table

PARTITIONS_SHOWN_MAX: Final = 20
# A follower fetches twice a second when nothing happens.
_BEHIND_MS_WORTH_TELLING: Final = 2_000


class ProcessView(NamedTuple):
    """A node of this host: what its process does, and where it would be."""

    text: str
    address: str
    is_well: bool


def status_view(status: ClusterStatus, processes: Mapping[int, ProcessView]) -> RenderableType:
    parts: list[RenderableType] = [_headline(status), _nodes_table(status, processes)]
    lacking = status.under_replicated
    if lacking:
        parts += ["", _partitions_table(lacking[:PARTITIONS_SHOWN_MAX])]
        if len(lacking) > PARTITIONS_SHOWN_MAX:
            parts.append(f"... and {len(lacking) - PARTITIONS_SHOWN_MAX:,} more")
    return Group(*parts)


def status_json(status: ClusterStatus, processes: Mapping[int, ProcessView]) -> dict[str, Any]:
    leader = next((each.id for each in status.controllers if each.is_leader), None)
    return {
        "cluster_id": status.cluster_id,
        "is_well": status.is_well and all(process.is_well for process in processes.values()),
        "controller": leader,
        "controller_epoch": status.controller_epoch,
        "partitions": len(status.partitions),
        "brokers": [
            {**broker._asdict(), "address": address_text(broker.address)}
            for broker in status.brokers
        ],
        "controllers": [controller._asdict() for controller in status.controllers],
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


def _headline(status: ClusterStatus) -> Text:
    serving = sum(not broker.is_fenced for broker in status.brokers)
    leader = next((each.id for each in status.controllers if each.is_leader), None)
    line = Text.assemble(
        ("cluster ", "dim"),
        f"{status.cluster_id}  ",
        f"{serving} of {count(len(status.brokers), 'broker')} serving, ",
        "no active controller, "
        if leader is None
        else f"controller {leader} (epoch {status.controller_epoch}), ",
        count(len(status.partitions), "partition"),
    )
    if status.without_leader:
        line.append(f", {len(status.without_leader):,} without a leader", "red")
    if status.under_replicated:
        line.append(f", {len(status.under_replicated):,} under-replicated", "yellow")
    elif status.partitions:
        line.append(", all in sync", "green")
    return line


def _nodes_table(status: ClusterStatus, processes: Mapping[int, ProcessView]) -> Table:
    numbers = ("node", "leads", "replicas", "in sync", "lag")
    titles = ["node", "address", "broker", "leads", "replicas", "in sync", "lag", "controller"]
    if processes:
        titles.insert(1, "process")
    table = new_table(*titles, right=numbers)
    brokers = {broker.id: broker for broker in status.brokers}
    controllers = {controller.id: controller for controller in status.controllers}
    for node_id in sorted({*brokers, *controllers, *processes}):
        broker, process = brokers.get(node_id), processes.get(node_id)
        cells: list[Text | str] = [str(node_id)]
        if processes:
            cells.append(NOTHING if process is None else _process_cell(process))
        cells += [_address(broker, process), *_broker_cells(broker)]
        table.add_row(*cells, _controller_cell(controllers.get(node_id)))
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


def _controller_cell(controller: ControllerView | None) -> Text:
    if controller is None:
        return Text(NOTHING)
    if controller.is_leader:
        return Text("active", style="green")
    text = Text("voter" if controller.is_voter else "observer")
    behind_ms = controller.behind_ms
    if behind_ms is None or behind_ms > _BEHIND_MS_WORTH_TELLING:
        since = "never caught up" if behind_ms is None else f"behind for {behind_ms / 1_000:.0f} s"
        text.append(f", {since}", "yellow")
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
