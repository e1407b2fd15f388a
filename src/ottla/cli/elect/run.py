"""Runs `ottla elect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.topic_lookup import existing_partitions
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.placement import LeaderElection
from ottla.model import TopicPartition


class RequestedElection(NamedTuple):
    """The partitions: all, or those of topics; without `partitions` all of these topics."""

    topics: tuple[str, ...]
    partitions: tuple[int, ...]

    @classmethod
    def of(
        cls, topics: Sequence[str], partitions: Sequence[int], *, every: bool
    ) -> RequestedElection:
        if every == bool(topics):
            raise CommandError(
                "Name partitions with either --topic TOPIC or --all.", exit_code=ExitCode.USAGE
            )
        if partitions and len(topics) != 1:
            raise CommandError("--partition needs exactly one --topic.", exit_code=ExitCode.USAGE)
        return cls(tuple(dict.fromkeys(topics)), tuple(dict.fromkeys(partitions)))


async def elect_leaders(
    admin: Admin,
    terminal: Terminal,
    election: RequestedElection,
    *,
    unclean: bool,
    as_json: bool,
) -> ExitCode:
    """Tries every partition. The exit code shows whether an election was refused."""
    chosen = await _partitions(admin, election) if election.topics else None
    kind = LeaderElection.UNCLEAN if unclean else LeaderElection.PREFERRED
    with doing("elect leaders"):
        results = await admin.elect_leaders(chosen, election=kind)
    elected = unneeded = 0
    worst = ExitCode.OK
    for name in sorted(results):
        fields = {"topic": name.topic, "partition": name.partition}
        refusal = results.error(name)
        if refusal is not None:
            error = refused(f"elect a leader of {name}", refusal)
            terminal.complain(error)
            worst = error.exit_code
            outcome = {"outcome": "refused", "reason": error.message}
        elif results[name].was_needed:
            elected += 1
            outcome = {"outcome": "elected"}
            if not as_json:
                terminal.stdout.print(f"elected a leader of {name}", markup=False)
        else:
            unneeded += 1
            outcome = {"outcome": "not needed"}
        if as_json:
            terminal.print_json(fields | outcome)
    if not as_json and not elected and worst is ExitCode.OK:
        terminal.notice(
            "No partition needed an election."
            if not unneeded
            else f"{count(unneeded, 'partition')}: not needed."
        )
    return worst


async def _partitions(admin: Admin, election: RequestedElection) -> list[TopicPartition]:
    return [
        TopicPartition(topic, partition)
        for topic in election.topics
        for partition in await existing_partitions(admin, topic, election.partitions)
    ]
