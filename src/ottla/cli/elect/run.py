"""Runs `ottla elect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.connection.cluster_errors import unknown_partitions, unknown_topic
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.model import ErrorCode
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions

PREFERRED: Final = 0
UNCLEAN: Final = 1


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
    admin: ClusterAdmin,
    terminal: Terminal,
    election: RequestedElection,
    *,
    unclean: bool,
    as_json: bool,
) -> ExitCode:
    """Tries every partition. The exit code shows whether an election was refused."""
    response = await admin.send_request(
        ElectLeadersRequest(
            election_type=UNCLEAN if unclean else PREFERRED,
            topic_partitions=await _partitions(admin, election) if election.topics else None,
        )
    )
    if response.error_code:
        raise refusal("elect leaders", response.error_code, None)
    elected = unneeded = 0
    worst = ExitCode.OK
    for topic in sorted(response.replica_election_results, key=lambda each: each.topic):
        for result in sorted(topic.partition_result, key=lambda each: each.partition_id):
            name = f"{topic.topic}-{result.partition_id}"
            fields = {"topic": topic.topic, "partition": result.partition_id}
            if result.error_code == ErrorCode.ELECTION_NOT_NEEDED:
                unneeded += 1
                outcome = {"outcome": "not needed"}
            elif result.error_code:
                error = refusal(
                    f"elect a leader of {name}", result.error_code, result.error_message
                )
                terminal.complain(error)
                worst = error.exit_code
                outcome = {"outcome": "refused", "reason": error.message}
            else:
                elected += 1
                outcome = {"outcome": "elected"}
                if not as_json:
                    terminal.stdout.print(f"elected a leader of {name}", markup=False)
            if as_json:
                terminal.print_json(fields | outcome)
    if not as_json and not elected and worst is ExitCode.OK:
        terminal.notice(
            "No partition needed an election."
            if not unneeded
            else f"{count(unneeded, 'partition')}: not needed."
        )
    return worst


async def _partitions(admin: ClusterAdmin, election: RequestedElection) -> list[TopicPartitions]:
    metadata = await admin.metadata()
    existing = {topic.name or "": topic for topic in metadata.topics}
    chosen = []
    for topic in election.topics:
        if topic not in existing:
            raise unknown_topic(topic, existing)
        known = sorted(each.partition_index for each in existing[topic].partitions)
        missing = [partition for partition in election.partitions if partition not in known]
        if missing:
            raise unknown_partitions(topic, missing, len(known))
        partitions = list(election.partitions) or known
        chosen.append(TopicPartitions(topic=topic, partitions=partitions))
    return chosen
