"""Scripts about a quorum that a person can read: commands, and what comes of each.

A script is made of blocks. A block has one or more commands, a line `----`, and what they printed:

    expire 1
    ----
    1 is prospective in epoch 0
    1 -> 2 pre-vote epoch 0 end 0@0

`python -m tests.support.raft.raft_scenarios` writes the output anew. Read the difference before you
keep it.

Commands (N is a replica, `A->B` the packets from one to another)
    voters N N ...        starts replicas that were formatted as these voters
    observer N            starts a replica that votes for nobody
    expire N              lets time pass until N's election or fetch timeout is over, for N only
    elapse MS             lets time pass for all
    deliver [A->B]        delivers all packets, and those that follow from them
    drop [A->B]           loses them instead
    split N N | N N       loses everything between these groups
    cut N                 loses everything to and from N
    heal                  loses nothing any more
    append N TEXT ...     has the leader N append records
    hold N / flush N      has N keep appended records in memory / flush them
    crash N / start N     loses what N had not flushed / starts it again
    snapshot N            has N put all that is committed into a snapshot
    shutdown N            has N stand for election no more, as it is going to stop
    resign N
    add L N / remove L N  asks the leader L to add or to remove the voter N
    show [N]              prints state, log (offset:epoch record) and high watermark
    quiet / verbose       does not print fetches, nor what is sent to nobody / does so
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ottla.raft.states import Follower, Leader, State, Unattached
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.schema import Message
from tests.support.raft.raft_log import ReplicaDisk
from tests.support.raft.raft_replica import (
    API_VERSIONS,
    CLUSTER_ID,
    Packet,
    Replica,
    config,
    formatted_disk,
    voter,
    voter_set,
)
from tests.support.raft.raft_texts import is_chatter, text_of

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "raft"
_SETTLED_AFTER_PACKETS = 500


class NoDice:
    """Timeouts are as short as they get, unless two replicas would tie: later ids take longer."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    def below(self, bound: int) -> int:
        return min(self._node_id * 10, bound - 1)


class Scenario:
    def __init__(self) -> None:
        self._now_ms = 0
        self._disks: dict[int, ReplicaDisk] = {}
        self._replicas: dict[int, Replica] = {}
        self._packets: list[Packet] = []
        self._groups: dict[int, int] = {}
        self._held: set[int] = set()
        self._printed: list[str] = []
        self._states: dict[int, str] = {}
        self._is_quiet = False

    def run(self, line: str) -> list[str]:
        self._printed = []
        command, *arguments = line.split()
        handler: Callable[..., None] = getattr(self, f"_do_{command}")
        handler(*arguments)
        return self._printed

    # ---- commands

    def _do_voters(self, *ids: str) -> None:
        voters = voter_set(*map(int, ids))
        self._bootstrap = tuple(voters.ids)
        for node_id in voters.ids:
            self._disks[node_id] = formatted_disk(voters)
            self._do_start(str(node_id))

    def _do_observer(self, node: str) -> None:
        self._disks[int(node)] = ReplicaDisk()
        self._do_start(node)

    def _do_start(self, node: str) -> None:
        node_id = int(node)
        self._replicas[node_id] = Replica(
            config(node_id, bootstrap=self._bootstrap),
            self._disks[node_id],
            NoDice(node_id),
            self._packets.append,
            self._now_ms,
            is_flushing_at_once=node_id not in self._held,
        )
        self._print_changes()

    def _do_crash(self, node: str) -> None:
        del self._replicas[int(node)]
        self._states.pop(int(node))
        self._disks[int(node)].log.crash()
        self._packets[:] = [each for each in self._packets if int(node) not in each[:2]]

    def _do_expire(self, node: str) -> None:
        replica = self._replicas[int(node)]
        state = replica.raft.state
        deadline_ms = None if isinstance(state, Follower | Leader) else state.election_deadline_ms
        if isinstance(state, Follower):
            deadline_ms = state.fetch_deadline_ms
        assert deadline_ms is not None, f"{node} is {_described(state)} and waits for nothing"
        self._now_ms = max(self._now_ms, deadline_ms)
        replica.advance(self._now_ms)
        self._print_changes()

    def _do_elapse(self, duration: str) -> None:
        """Packets take no time."""
        end_ms = self._now_ms + int(duration)
        while True:
            self._do_deliver()
            deadlines = [
                (deadline_ms, node_id)
                for node_id, replica in self._replicas.items()
                if (deadline_ms := replica.raft.next_deadline_ms) is not None
            ]
            deadline_ms, node_id = min(deadlines, default=(end_ms + 1, 0))
            self._now_ms = max(self._now_ms, min(deadline_ms, end_ms))
            if deadline_ms > end_ms:
                return
            self._replicas[node_id].advance(self._now_ms)
            self._print_changes()

    def _do_deliver(self, route: str = "") -> None:
        for _ in range(_SETTLED_AFTER_PACKETS):
            packet = next(self._on(route), None)
            if packet is None:
                return
            self._packets.remove(packet)
            self._hand_over(packet)
            self._print_changes()
        raise AssertionError(f"the packets {route} never end")

    def _do_drop(self, route: str = "") -> None:
        for packet in list(self._on(route)):
            self._packets.remove(packet)
            self._print(f"{packet.source} -x {packet.target} {text_of(packet.message)}")

    def _do_split(self, *words: str) -> None:
        for group, nodes in enumerate(" ".join(words).split("|")):
            self._groups |= {int(node): group for node in nodes.split()}

    def _do_cut(self, node: str) -> None:
        self._groups[int(node)] = -int(node)

    def _do_heal(self) -> None:
        self._groups.clear()

    def _do_append(self, node: str, *values: str) -> None:
        self._replicas[int(node)].append(*values)
        self._print_changes()

    def _do_hold(self, node: str) -> None:
        self._held.add(int(node))
        self._replicas[int(node)].is_flushing_at_once = False

    def _do_flush(self, node: str) -> None:
        self._replicas[int(node)].flush()
        self._print_changes()

    def _do_snapshot(self, node: str) -> None:
        replica = self._replicas[int(node)]
        assert replica.raft.high_watermark is not None
        replica.snapshot(replica.raft.high_watermark)

    def _do_shutdown(self, node: str) -> None:
        self._replicas[int(node)].begin_shutdown(self._now_ms)
        self._print_changes()

    def _do_resign(self, node: str) -> None:
        self._replicas[int(node)].resign(self._now_ms)
        self._print_changes()

    def _do_add(self, leader: str, node: str) -> None:
        key, endpoints, _ = voter(int(node))
        name, host, port = endpoints[0]
        self._send_request(
            leader,
            AddRaftVoterRequest(
                cluster_id=CLUSTER_ID,
                voter_id=key.id,
                voter_directory_id=key.directory_id,
                listeners=[Listener(name=name, host=host, port=port)],
            ),
        )

    def _do_remove(self, leader: str, node: str) -> None:
        key = voter(int(node)).key
        self._send_request(
            leader,
            RemoveRaftVoterRequest(
                cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.directory_id
            ),
        )

    def _do_show(self, *nodes: str) -> None:
        for node_id in [int(node) for node in nodes] or sorted(self._replicas):
            replica = self._replicas[node_id]
            log = replica.disk.log
            self._print(
                f"{node_id} {_described(replica.raft.state)}, voters {replica.raft.voters.ids}, "
                f"high watermark {replica.raft.high_watermark}"
            )
            for offset, entry in enumerate(log.entries, start=log.start.offset):
                mark = "" if offset < log.flushed_end_offset else " (not flushed)"
                self._print(f"    {offset}:{entry.epoch} {entry}{mark}")

    def _do_quiet(self) -> None:
        self._is_quiet = True

    def _do_verbose(self) -> None:
        self._is_quiet = False

    # ---- the world

    def _send_request(self, leader: str, request: Message) -> None:
        self._replicas[int(leader)].request(request, self._now_ms)
        self._print_changes()

    def _on(self, route: str) -> Iterator[Packet]:
        for packet in self._packets:
            if route in ("", f"{packet.source}->{packet.target}"):
                yield packet

    def _hand_over(self, packet: Packet) -> None:
        is_lost = self._groups.get(packet.source, 0) != self._groups.get(packet.target, 0)
        target = self._replicas.get(packet.target)
        if not (self._is_quiet and (target is None or is_chatter(packet.message))):
            arrow = "-x" if is_lost or target is None else "->"
            self._print(f"{packet.source} {arrow} {packet.target} {text_of(packet.message)}")
        if target is None and not is_lost and not packet.is_response:
            self._replicas[packet.source].fail(packet.number, self._now_ms)
        elif target is None or is_lost:
            return
        elif isinstance(packet.message, ApiVersionsRequest):
            self._packets.append(packet.answered(API_VERSIONS))
        elif not packet.is_response or packet.connection is target.raft:
            target.deliver(packet, self._now_ms)

    def _print(self, line: str) -> None:
        self._printed.append(line)

    def _print_changes(self) -> None:
        for node_id, replica in sorted(self._replicas.items()):
            state = _described(replica.raft.state)
            if self._states.get(node_id) != state:
                self._states[node_id] = state
                self._print(f"{node_id} is {state}")
            while replica.high_watermarks:
                self._print(
                    f"{node_id} knows that all is committed below {replica.high_watermarks.pop(0)}"
                )
            while replica.answers:
                _, answer = replica.answers.popitem()
                self._print(f"{node_id} answers {text_of(answer)}")


def _described(state: State) -> str:
    name = type(state).__name__.lower()
    if isinstance(state, Unattached) and state.voted is not None:
        return f"unattached in epoch {state.epoch}, voted for {state.voted.id}"
    leader_id = getattr(state, "leader_id", None)
    following = f" of {leader_id}" if leader_id is not None else ""
    return f"{name}{following} in epoch {state.epoch}"


# ---- scripts


def replay(script: str) -> str:
    """The script with the output that its commands have now."""
    scenario = Scenario()
    blocks = []
    for block in script.strip().split("\n\n"):
        commands, _, _ = block.partition("\n----")
        printed: list[str] = []
        for line in commands.splitlines():
            if line.strip() and not line.startswith("#"):
                printed += scenario.run(line)
        is_text = all(line.startswith("#") for line in commands.splitlines())
        blocks.append(commands if is_text else "\n".join([commands, "----", *printed]))
    return "\n\n".join(blocks) + "\n"


def rewrite() -> None:
    for path in sorted(SCENARIOS.glob("*.txt")):
        path.write_text(replay(path.read_text()))
        sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    rewrite()
