"""A cluster of `ottla start` processes on free ports, over directories that outlive them."""

from __future__ import annotations

import os
import signal
import socket  # noqa: TID251 - tests stand outside of the nodes
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.model import NodeId
from ottla.raft.voters import NO_VOTERS, VoterEndpoint, VoterSet
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from tests.support.nodes.node_listeners import HOST, NodeListeners, PlaintextListeners
from tests.support.nodes.wire_connection import WireConnection

READY_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 60.0
WAIT_SECONDS_MAX = 60.0
# Below the ports that the system gives to clients: one of those could take a killed node's.
_PORTS = (15_000, 32_000)
PORTS_PER_NODE = 5
_POLL_SECONDS = 0.01
_SHOWN_CHARACTERS = 6_000


class NodeOfCluster:
    """One node over its own directory. What it says on stderr is collected over all its lives."""

    def __init__(self, node_id: int, home: Path, ports: Sequence[int]) -> None:
        self.id = node_id
        self.ports = tuple(ports)
        self.port, self.controller_port, self.internal_port, *_ = ports
        self.data = home / "data"
        self.properties = home / "server.properties"
        # What its command is run by, where that is not the shell's usual way.
        self.command_prefix: tuple[str, ...] = ()
        self._stderr = home / "stderr.txt"
        self._process: subprocess.Popen[str] | None = None
        self._is_paused = False

    @property
    def address(self) -> tuple[str, int]:
        return HOST, self.port

    @property
    def is_running(self) -> bool:
        """A paused one is not: it answers nothing."""
        return self._process is not None and not self._is_paused

    @property
    def pid(self) -> int:
        assert self._process is not None, f"node {self.id} is not running"
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Of one that has ended by itself, None while it runs."""
        assert self._process is not None, f"node {self.id} is not running"
        return self._process.poll()

    @property
    def stderr(self) -> str:
        return self._stderr.read_text(errors="replace")

    def configure(self, properties: Mapping[str, str]) -> None:
        """From its next start on; what was configured last counts."""
        with self.properties.open("a") as file:
            file.writelines(f"{name}={value}\n" for name, value in properties.items())

    def start(self) -> None:
        """Does not wait; `wait_ready` does."""
        assert self._process is None, f"node {self.id} is running"
        ottla = str(Path(sys.executable).with_name("ottla"))
        options = ["--verbose"] if os.environ.get("OTTLA_VERBOSE") == "1" else []
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                [*self.command_prefix, ottla, "start", "--config", str(self.properties), *options],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def wait_ready(self) -> None:
        assert self._process is not None, f"node {self.id} is not running"
        assert self._process.stdout is not None
        # A node that hangs is killed, and then says nothing more.
        watchdog = threading.Timer(READY_SECONDS_MAX, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        assert line.startswith("Ready on "), f"node {self.id} did not start: {line}{self.stderr}"

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends it orderly."""
        code = self.end(signal.SIGTERM)
        assert code == 0, f"node {self.id} ended with {code}: {self.stderr}"

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        os.kill(self.pid, signal.SIGCONT)

    def end_by_force(self) -> None:
        """Whatever state it is in."""
        if self._process is not None:
            self.kill()

    def end(self, number: signal.Signals) -> int:
        """Sends a signal and returns the exit code."""
        assert self._process is not None, f"node {self.id} is not running"
        process, self._process, self._is_paused = self._process, None, False
        process.send_signal(number)
        try:
            code = process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            assert process.stdout is not None
            process.stdout.close()
        return code


class ClusterProcesses:
    """Formatted when it is made, started with its `with`, gone after it. `properties` are configs
    of every node. Nodes are combined unless it is said who the controllers are."""

    def __init__(
        self,
        scratch: Path,
        properties: Mapping[str, str] | None = None,
        *,
        brokers: Collection[int] = (1, 2, 3),
        controllers: Collection[int] = (1, 2, 3),
        listeners: NodeListeners | None = None,
        has_static_voters: bool = False,
    ) -> None:
        ids = sorted({*brokers, *controllers})
        ports = free_ports(PORTS_PER_NODE * len(ids))
        self.listeners = listeners or PlaintextListeners()
        self.nodes = {
            each: NodeOfCluster(each, scratch / f"node-{each}", ports[index :: len(ids)])
            for index, each in enumerate(ids)
        }
        self.brokers = [self.nodes[each] for each in sorted(brokers)]
        self._controllers = [self.nodes[each] for each in sorted(controllers)]
        self._format(has_static_voters=has_static_voters)
        for node in self.nodes.values():
            node.configure({**self._properties_of(node), **(properties or {})})

    def __enter__(self) -> Self:
        try:
            self.start(self.nodes.values())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()
        if kind is not None:
            for node in self.nodes.values():
                print(f"---- node {node.id}\n{node.stderr[-_SHOWN_CHARACTERS:]}")

    @property
    def bootstrap(self) -> str:
        ports = (self.listeners.client_port(node) for node in self.brokers)
        return ",".join(f"{HOST}:{port}" for port in ports)

    @property
    def client(self) -> dict[str, Any]:
        """The configs with which a client of librdkafka connects."""
        return {"bootstrap.servers": self.bootstrap, **self.listeners.client_configs()}

    @property
    def admin(self) -> dict[str, Any]:
        """The same for an administrator."""
        return {"bootstrap.servers": self.bootstrap, **self.listeners.admin_configs()}

    def connect(self, node: NodeOfCluster) -> WireConnection:
        """A connection of an administrator to a node."""
        return self.listeners.connect(HOST, self.listeners.client_port(node))

    @property
    def running_brokers(self) -> list[NodeOfCluster]:
        return [node for node in self.brokers if node.is_running]

    def start(self, nodes: Iterable[NodeOfCluster]) -> None:
        """Returns when all of them are ready."""
        started = list(nodes)
        for node in started:
            node.start()
        for node in started:
            node.wait_ready()

    def stop(self) -> None:
        """All that run, orderly and together."""
        running = [node for node in self.nodes.values() if node.is_running]
        in_parallel(node.stop for node in running)

    def assert_no_traceback(self) -> None:
        for node in self.nodes.values():
            assert "Traceback" not in node.stderr, f"node {node.id}: {node.stderr[-8_000:]}"

    def _end(self) -> None:
        for node in self.nodes.values():
            node.end_by_force()

    def _format(self, *, has_static_voters: bool) -> None:
        dice, now_ms = SystemDice(), SystemClock().now_ms()
        cluster_id = new_cluster_id(dice)
        voters = VoterSet.of(
            initial_voter(
                node.id, dice.uuid(), VoterEndpoint("CONTROLLER", HOST, node.controller_port)
            )
            for node in self._controllers
        )
        for node in self.nodes.values():
            node.data.mkdir(parents=True)
            format_node(
                SystemDisk(),
                [str(node.data)],
                metadata_path=str(node.data),
                cluster_id=cluster_id,
                node_id=NodeId(node.id),
                voters=NO_VOTERS if has_static_voters else voters,
                users=self.listeners.users,
                dice=dice,
                now_ms=now_ms,
            )

    def _properties_of(self, node: NodeOfCluster) -> dict[str, str]:
        of_role = {"broker": self.brokers, "controller": self._controllers}
        roles = [role for role, nodes in of_role.items() if node in nodes]
        return {
            "process.roles": ",".join(roles),
            "node.id": str(node.id),
            **self.listeners.properties(node, roles),
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": ",".join(
                f"{HOST}:{each.controller_port}" for each in self._controllers
            ),
            "log.dirs": str(node.data),
            "default.replication.factor": str(min(3, len(self.brokers))),
            "min.insync.replicas": "2",
        }


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, and that no client is given either."""
    dice, found = SystemDice(), list[int]()
    while len(found) < count:
        port = dice.between(low=_PORTS[0], high=_PORTS[1])
        with suppress(OSError), socket.socket() as probe:
            probe.bind((HOST, port))
            if port not in found:
                found.append(port)
    return found


def in_parallel(calls: Iterable[Callable[[], None]]) -> None:
    """Returns when all have; the first error is raised then."""
    errors: list[BaseException] = []

    def run(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def wait_until(
    holds: Callable[[], bool], what: str, *, seconds_max: float = WAIT_SECONDS_MAX
) -> None:
    """Returns as soon as it holds. A node that cannot be asked at the moment is asked again."""
    deadline = time.perf_counter() + seconds_max
    while True:
        with suppress(OSError):
            if holds():
                return
        assert time.perf_counter() < deadline, f"waited {seconds_max:.0f} s in vain: {what}"
        threading.Event().wait(_POLL_SECONDS)
