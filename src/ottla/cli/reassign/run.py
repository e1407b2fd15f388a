"""`ottla reassign` at work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import unknown_topic
from ottla.cli.display.cells import NOTHING, count
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.reassign.plan import Assignment, PartitionName, format_plan, parse_plan, propose
from ottla.cli.reassign.throttle import clear_throttle, set_throttle
from ottla.client.administration.admin import Admin
from ottla.client.administration.placement import Reassignment
from ottla.model import TopicPartition
from ottla.runtime.system_clock import SystemClock

_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Placement:
    """Where everything is now."""

    racks: dict[int, str | None]
    assignment: Assignment

    def of(self, name: PartitionName) -> tuple[int, ...]:
        replicas = self.assignment.get(name)
        if replicas is None:
            raise CommandError(f"There is no partition {name}.")
        return replicas


def parse_brokers(text: str | None) -> list[int]:
    """`1,2,3`; nothing is none."""
    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise CommandError(
            f"{text!r} is not a list of brokers; write their ids, such as 1,2,3.",
            exit_code=ExitCode.USAGE,
        ) from None


async def generate(
    admin: Admin,
    terminal: Terminal,
    *,
    topics: Iterable[str],
    brokers: Iterable[int],
    replication_factor: int | None,
) -> None:
    """Prints a plan that balances the topics over the brokers."""
    placement = await _placement(admin)
    names = {name.topic for name in placement.assignment}
    chosen = set(topics) or {topic for topic in names if not topic.startswith("__")}
    for topic in sorted(chosen - names):
        raise unknown_topic(topic, names)
    targets = list(dict.fromkeys(brokers)) or sorted(placement.racks)
    for broker in targets:
        if broker not in placement.racks:
            known = ", ".join(map(str, sorted(placement.racks)))
            raise CommandError(f"There is no live broker {broker}; live brokers are {known}.")
    current = {name: ids for name, ids in placement.assignment.items() if name.topic in chosen}
    if not current:
        raise CommandError("There is nothing to move: the cluster has no topics.")
    most = replication_factor or max(map(len, current.values()))
    if most > len(targets):
        raise CommandError(
            f"A replication factor of {most} needs as many brokers; given: {len(targets)}.",
            "Name more with --brokers, or ask for fewer replicas with --replication-factor.",
            exit_code=ExitCode.USAGE,
        )
    racks = {broker: placement.racks[broker] for broker in targets}
    plan = propose(current, racks, replication_factor=replication_factor)
    moved = sum(set(plan[name]) != set(current[name]) for name in plan)
    terminal.stdout.file.write(format_plan(plan) + "\n")
    terminal.notice(f"{count(moved, 'partition')} of {len(plan):,} would move.")


async def execute(
    admin: Admin,
    terminal: Terminal,
    file: Path,
    *,
    throttle: int | None,
    can_change_factor: bool,
    as_json: bool,
) -> ExitCode:
    """Starts the moves of a plan, and prints the plan that takes them back."""
    plan = _read_plan(file)
    placement = await _placement(admin)
    before = {name: placement.of(name) for name in plan}
    if throttle is not None:
        await set_throttle(admin, placement.racks, before, plan, bytes_per_second=throttle)
    refused = await _alter(admin, plan, can_change_factor=can_change_factor)
    _report(terminal, plan, refused, done="started", as_json=as_json)
    if not as_json:
        terminal.stdout.file.write(format_plan(before) + "\n")
        terminal.notice(
            f"Keep this plan: executing it reverts the moves. `ottla reassign verify {file}` "
            "shows the progress"
            + ("." if throttle is None else ", and removes the throttle at the end.")
        )
    return ExitCode.REFUSED if refused else ExitCode.OK


async def verify(
    admin: Admin, terminal: Terminal, file: Path, *, wait: bool, as_json: bool
) -> ExitCode:
    """Shows the progress of each move. When all are complete, removes the throttles."""
    plan = _read_plan(file)
    while True:
        moves, placement = await _moves(admin), await _placement(admin)
        states = {name: _progress(name, plan, moves, placement) for name in sorted(plan)}
        if not (wait and "in progress" in states.values()):
            break
        await SystemClock().sleep(_POLL_SECONDS)
    if "in progress" not in states.values():
        topics = {name.topic for name in plan if name in placement.assignment}
        await clear_throttle(admin, placement.racks, topics=topics)
    if as_json:
        for name, state in states.items():
            terminal.print_json({**name._asdict(), "state": state})
    else:
        table = new_table("partition", "state")
        for name, state in states.items():
            table.add_row(str(name), state)
        terminal.stdout.print(table)
    done = all(state == "done" for state in states.values())
    return ExitCode.OK if done else ExitCode.REFUSED


async def cancel(admin: Admin, terminal: Terminal, file: Path | None, *, as_json: bool) -> ExitCode:
    """Takes moves back that are under way: those of a plan, or all."""
    moves = await _moves(admin)
    planned = set(moves) if file is None else set(_read_plan(file))
    chosen = sorted(planned & set(moves))
    if not chosen:
        terminal.notice("No moves are in progress.")
        return ExitCode.OK
    refused = await _alter(admin, dict.fromkeys(chosen), can_change_factor=True)
    placement = await _placement(admin)
    await clear_throttle(admin, placement.racks, topics={name.topic for name in chosen})
    _report(terminal, chosen, refused, done="cancelled", as_json=as_json)
    return ExitCode.REFUSED if refused else ExitCode.OK


async def list_moves(admin: Admin, terminal: Terminal, *, as_json: bool) -> None:
    moves = await _moves(admin)
    if as_json:
        for name, move in sorted(moves.items()):
            terminal.print_json({**name._asdict(), **move._asdict()})
    elif moves:
        table = new_table("partition", "replicas", "adding", "removing")
        for name, move in sorted(moves.items()):
            table.add_row(str(name), *(", ".join(map(str, ids)) or NOTHING for ids in move))
        terminal.stdout.print(table)
    else:
        terminal.notice("No moves are in progress.")


def _progress(
    name: PartitionName,
    plan: Assignment,
    moves: Mapping[PartitionName, Reassignment],
    placement: Placement,
) -> str:
    if name in moves:
        return "in progress"
    replicas = placement.assignment.get(name)
    if replicas is None:
        return "there is no such partition"
    if replicas == plan[name]:
        return "done"
    return f"not started, or cancelled: it is on {', '.join(map(str, replicas))}"


def _report(
    terminal: Terminal,
    names: Iterable[PartitionName],
    refused: Mapping[PartitionName, CommandError],
    *,
    done: str,
    as_json: bool,
) -> None:
    for name in sorted(names):
        error = refused.get(name)
        if as_json:
            fields = {**name._asdict(), "outcome": done if error is None else "refused"}
            terminal.print_json(fields | ({} if error is None else {"reason": error.message}))
        elif error is None:
            terminal.notice(f"{done} {name}")
        if error is not None:
            terminal.complain(error)


async def _alter(
    admin: Admin,
    plan: Mapping[PartitionName, tuple[int, ...] | None],
    *,
    can_change_factor: bool,
) -> dict[PartitionName, CommandError]:
    """Starts moves, or takes them back where no replicas are given; returns what was refused."""
    with doing("move partitions"):
        results = await admin.alter_partition_reassignments(
            {TopicPartition(*name): replicas for name, replicas in plan.items()},
            allow_replication_factor_change=can_change_factor,
        )
    return {
        PartitionName(*name): cluster_errors.refused(f"move {name}", error)
        for name, error in results.failed.items()
    }


async def _moves(admin: Admin) -> dict[PartitionName, Reassignment]:
    with doing("list moves"):
        found = await admin.list_partition_reassignments()
    return {PartitionName(*name): move for name, move in found.items()}


async def _placement(admin: Admin) -> Placement:
    with doing("describe the cluster"):
        cluster, topics = await admin.describe_cluster(), await admin.list_topics()
    return Placement(
        {broker.id: broker.rack for broker in cluster.brokers},
        {
            PartitionName(topic.name, each.partition): each.replicas
            for topic in topics.values()
            for each in topic.partitions
        },
    )


def _read_plan(file: Path) -> Assignment:
    try:
        return parse_plan(file.read_text())
    except OSError as error:
        remedy = "write a plan with `ottla reassign generate`, and give its path"
        raise unreadable(file, error, remedy=remedy) from None
    except ValueError as error:
        raise CommandError(
            f"{file} is not a plan: {error}.",
            "`ottla reassign generate` writes one.",
            exit_code=ExitCode.USAGE,
        ) from None
