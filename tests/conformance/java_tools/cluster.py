"""Apache Kafka's own tools, pointed at three nodes: any of them serves, as broker or controller."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.conformance.java_tools.client import Java, Ran
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.nodes.node_listeners import HOST

_PACKAGE = "org.apache.kafka.tools"
_TOOLS = {
    "kafka-broker-api-versions": f"{_PACKAGE}.BrokerApiVersionsCommand",
    "kafka-client-metrics": f"{_PACKAGE}.ClientMetricsCommand",
    "kafka-cluster": f"{_PACKAGE}.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": f"{_PACKAGE}.consumer.ConsoleConsumer",
    "kafka-console-producer": f"{_PACKAGE}.ConsoleProducer",
    "kafka-consumer-groups": f"{_PACKAGE}.consumer.group.ConsumerGroupCommand",
    "kafka-dump-log": f"{_PACKAGE}.DumpLogSegments",
    "kafka-features": f"{_PACKAGE}.FeatureCommand",
    "kafka-get-offsets": f"{_PACKAGE}.GetOffsetShell",
    "kafka-leader-election": f"{_PACKAGE}.LeaderElectionCommand",
    "kafka-log-dirs": f"{_PACKAGE}.LogDirsCommand",
    "kafka-metadata-quorum": f"{_PACKAGE}.MetadataQuorumCommand",
    "kafka-reassign-partitions": f"{_PACKAGE}.reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": f"{_PACKAGE}.ReplicaVerificationTool",
    "kafka-topics": f"{_PACKAGE}.TopicCommand",
    "kafka-verifiable-producer": f"{_PACKAGE}.VerifiableProducer",
}
_NO_LEADER = "none"


class Described(NamedTuple):
    """A partition, as kafka-topics shows it."""

    topic: str
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    eligible: tuple[int, ...]

    @classmethod
    def of(cls, line: str) -> Described:
        fields = dict(part.split(": ", 1) for part in line.strip("\t").split("\t"))
        leader = fields["Leader"]
        return cls(
            fields["Topic"],
            int(fields["Partition"]),
            None if leader == _NO_LEADER else int(leader),
            _ids(fields["Replicas"]),
            tuple(sorted(_ids(fields["Isr"]))),
            _ids(fields["Elr"]),
        )


class ClusterTools:
    """Every tool by its name. `via` is the node that it is sent to."""

    def __init__(self, java: Java, cluster: ClusterProcesses) -> None:
        self.java = java
        self.cluster = cluster

    def bootstrap(self, via: int) -> str:
        return f"{HOST}:{self.cluster.nodes[via].port}"

    def run(self, tool: str, *arguments: str, via: int = 1, stdin: str = "") -> Ran:
        where = ("--bootstrap-server", self.bootstrap(via))
        return self._run(tool, where, arguments, stdin)

    def __call__(self, tool: str, *arguments: str, via: int = 1, stdin: str = "") -> str:
        """What it prints, if it is content."""
        return _content(self.run(tool, *arguments, via=via, stdin=stdin))

    def at_controller(self, tool: str, *arguments: str, via: int = 1) -> str:
        """The same, asked of a controller."""
        address = f"{HOST}:{self.cluster.nodes[via].controller_port}"
        return _content(self._run(tool, ("--bootstrap-controller", address), arguments, ""))

    def _run(self, tool: str, where: Sequence[str], arguments: Sequence[str], stdin: str) -> Ran:
        if tool == "kafka-cluster":
            # The only tool that reads its commands first.
            return self.java.run(_TOOLS[tool], *arguments, *where, stdin=stdin)
        return self.java.run(_TOOLS[tool], *where, *arguments, stdin=stdin)

    def class_of(self, tool: str) -> str:
        return _TOOLS[tool]

    # ---- topics

    def create(
        self,
        topic: str,
        replicas: Sequence[Sequence[int]],
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """With these replicas of each partition, of which the first one leads."""
        assignment = ",".join(":".join(map(str, each)) for each in replicas)
        options = [f"--config={name}={value}" for name, value in (configs or {}).items()]
        where = ("--replica-assignment", assignment)
        self("kafka-topics", "--create", "--topic", topic, *where, *options)
        self.wait_in_sync(topic)

    def describe(self, *options: str, via: int = 1) -> list[Described]:
        lines = self("kafka-topics", "--describe", *options, via=via).splitlines()
        return [Described.of(line) for line in lines if line.startswith("\t")]

    def wait_in_sync(self, topic: str | None = None) -> None:
        """Returns when every node says of a topic, or of all, that no replica is missing."""
        options = ("--topic", topic) if topic is not None else ()

        def are_in_sync() -> bool:
            return all(
                len(each.isr) == len(each.replicas) and each.leader is not None
                for node in self.cluster.running_brokers
                for each in self._described_so_far(options, via=node.id)
            )

        wait_until(are_in_sync, f"the replicas of {topic or 'all topics'} are in sync")

    def wait_isr(self, topic: str, isr: Collection[int]) -> None:
        """Returns when all partitions are in sync with these nodes, which all say so."""

        def is_so() -> bool:
            return all(
                each.isr == tuple(isr) and each.leader in isr
                for node in self.cluster.running_brokers
                for each in self.describe("--topic", topic, via=node.id)
            )

        wait_until(is_so, f"{topic} has the ISR {isr}")

    def _described_so_far(self, options: Sequence[str], *, via: int) -> list[Described]:
        """A node whose metadata does not have a topic yet answers that it does not exist."""
        ran = self.run("kafka-topics", "--describe", *options, via=via)
        if ran.status != 0:
            raise OSError(ran.stdout)
        return [Described.of(line) for line in ran.stdout.splitlines() if line.startswith("\t")]

    # ---- records

    def produce(self, topic: str, values: Sequence[str], *, via: int = 1) -> None:
        lines = "".join(f"{value}\n" for value in values)
        self("kafka-console-producer", "--topic", topic, via=via, stdin=lines)

    def consume(self, topic: str, count: int, *, partition: int = 0, via: int = 1) -> list[str]:
        where = ("--topic", topic, "--partition", str(partition), "--offset", "earliest")
        limits = ("--max-messages", str(count), "--timeout-ms", "20000")
        # To close, it waits for the fetch that it has sent.
        quick = ("--command-property", "fetch.max.wait.ms=20")
        return self("kafka-console-consumer", *where, *limits, *quick, via=via).splitlines()

    # ---- nodes

    def start(self, node: NodeOfCluster) -> None:
        self.cluster.start([node])

    @contextmanager
    def without(self, node: NodeOfCluster) -> Iterator[None]:
        """Kills it, and has it back in all ISRs at the end."""
        node.kill()
        try:
            yield
        finally:
            if not node.is_running:
                self.start(node)
        self.wait_in_sync()


def write_plan(path: Path, replicas: Mapping[tuple[str, int], Sequence[int]]) -> str:
    """A file for kafka-reassign-partitions."""
    partitions = [
        {"topic": topic, "partition": partition, "replicas": list(each)}
        for (topic, partition), each in replicas.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def _content(ran: Ran) -> str:
    assert ran.status == 0, ran.stdout + ran.stderr
    return ran.stdout


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each)
