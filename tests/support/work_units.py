"""What pytest-xdist gives to one worker in one piece, and in which order.

Tests that share something dear, Spark, a Java process or a cluster, are one unit of work, so that
it is started once. Tests that mostly wait for other processes stand at the front of the queue and
those that compute at its back. Workers take from both ends: a core has something to do while a
cluster elects its leader, what is long begins early, and both ends meet in what is short. Those who
take from the back give way to the others, whose nodes and clients have each other's time to keep.

The units are made of the tests' names. pytest-xdist's own groups are lost on the way from its
workers with pytest 9.2.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# How far those who compute give way to those who wait.
NICENESS = 5
# Folders, from those that wait the most to those that compute the most.
ORDER = (
    "tests/pipeline",
    # One after the other, a shell that waits for programs.
    "tests/docs",
    "tests/conformance/java_tools",
    "tests/conformance/kafka/",
    "tests/integration/cluster",
    # Longer than what is left when both ends meet.
    "tests/conformance/confluent/test_transactions_cluster",
    "tests/conformance/kafka_python/test_groups",
    "tests/integration",
    "tests/conformance",
    "tests/unit",
    "tests/simulation",
    "tests/property",
)


SOURCE_AND_SINK = frozenset(
    {
        "test_delta.py",
        "test_exactly_once.py",
        "test_exactly_once_kills.py",
        "test_jvm_connector.py",
        "test_sink.py",
        "test_source.py",
    }
)


def unit_of(nodeid: str) -> str:
    """The name of the unit to which a test belongs, most often its module."""
    module, _, rest = nodeid.partition("::")
    path = PurePosixPath(module)
    match path.parts[1:]:
        # Two of them take less time together than one, though both have to be started.
        case ["pipeline", name] if name in SOURCE_AND_SINK:
            return "Spark, its source and sink"
        case ["pipeline", *_]:
            return "Spark, pipelines"
        case ["conformance", "java_tools", *_] | ["conformance", _]:
            return "Kafka's clients and tools"
        case ["conformance", "kafka", *_]:
            return "Kafka's classes"
        case ["conformance", "gateway", *_] if "[kafka" in rest:
            return "Kafka, gateways in front of it"
        case ["docs", *_]:
            # Each document has a network of its own.
            return nodeid
        case ["property" | "simulation", *_]:
            # These compute for long: each function by itself, with all of its parameters.
            return f"{module}::{rest.partition('[')[0]}"
    return module


def place_of(nodeid: str) -> int:
    """Where in the queue a test stands."""
    return next((i for i, folder in enumerate(ORDER) if nodeid.startswith(folder)), len(ORDER))


def takes_from_the_back(worker: str) -> bool:
    """Every second worker begins with the tests that compute."""
    return int(worker.removeprefix("gw")) % 2 == 1


class WorkUnits(LoadScopeScheduling):  # type: ignore[misc]
    """Hands the units out."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        # The queue is in the order in which the workers have collected the tests.
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        if takes_from_the_back(node.gateway.id):
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
