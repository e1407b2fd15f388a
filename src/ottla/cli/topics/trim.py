"""`ottla topics delete-records` at work: deletes the oldest records of partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from confluent_kafka import TopicPartition

from ottla.cli.connection.cluster_client import REQUEST_TIMEOUT_S, ConnectedCluster, result_of
from ottla.cli.consume.start_position import Anchor, PartitionBounds, StartPosition, resolve_start
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode


class Trim(NamedTuple):
    """What is deleted of a partition: from `earliest` to before `before`."""

    partition: int
    earliest: int
    before: int


def planned_trims(
    cluster: ConnectedCluster, topic: str, chosen: Sequence[int], position: StartPosition
) -> list[Trim]:
    """Only of partitions that have something to delete. Raises CommandError."""
    partitions = cluster.partitions(topic, chosen)
    earliest, latest = cluster.earliest(topic, partitions), cluster.latest(topic, partitions)
    if position.anchor is Anchor.OFFSET:
        _require_within(topic, position.number, latest)
    found = (
        cluster.at_time(topic, partitions, position.number)
        if position.anchor is Anchor.TIME
        else {}
    )
    trims = []
    for partition in partitions:
        at_time = found.get(partition)
        bounds = PartitionBounds(
            earliest[partition], latest[partition], None if at_time is None else at_time.offset
        )
        before = resolve_start(position, bounds)
        if before > earliest[partition]:
            trims.append(Trim(partition, earliest[partition], before))
    return trims


def question(topic: str, trims: Sequence[Trim]) -> str:
    """Offsets, because compaction and transactions make for fewer records."""
    offsets = sum(trim.before - trim.earliest for trim in trims)
    where = count(len(trims), "partition")
    return f"Delete the records at {count(offsets, 'offset')} in {where} of {topic}?"


def delete_records(
    cluster: ConnectedCluster,
    terminal: Terminal,
    topic: str,
    trims: Sequence[Trim],
    *,
    as_json: bool,
) -> None:
    if not trims:
        if not as_json:
            terminal.notice(f"There are no records to delete in {topic}.")
        return
    requested = [TopicPartition(topic, trim.partition, trim.before) for trim in trims]
    answers = cluster.admin.delete_records(requested, request_timeout=REQUEST_TIMEOUT_S)
    earliest = {
        requested.partition: result_of(
            answer, f"delete records of {topic}-{requested.partition}"
        ).low_watermark
        for requested, answer in answers.items()
    }
    _show(terminal, topic, trims, earliest, as_json=as_json)


def _require_within(topic: str, offset: int, latest: Mapping[int, int]) -> None:
    for partition, end in latest.items():
        if offset > end:
            raise CommandError(
                f"{topic}-{partition} has no offset {offset}: its latest offset is {end}.",
                "Name the partitions with --partition, or delete everything with --before end.",
                exit_code=ExitCode.USAGE,
            )


def _show(
    terminal: Terminal,
    topic: str,
    trims: Sequence[Trim],
    earliest: Mapping[int, int],
    *,
    as_json: bool,
) -> None:
    if as_json:
        for trim in trims:
            terminal.print_json(
                {
                    "topic": topic,
                    "partition": trim.partition,
                    "earliest": earliest[trim.partition],
                    "earliest_before": trim.earliest,
                }
            )
        return
    numbers = ("partition", "earliest", "earliest before")
    table = new_table(*numbers, right=numbers)
    for trim in trims:
        table.add_row(str(trim.partition), str(earliest[trim.partition]), str(trim.earliest))
    terminal.stdout.print(table)
