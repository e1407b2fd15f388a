"""Commands answer at once: by the processor time of their processes, which other load changes
little."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.nodes.nodes import OTTLA, RunningNode, running_node

# On a host with nothing else to do, they take 0.12 s and 0.22 s. Processors that share a core with
# a busy one take up to twice as long.
HELP_SECONDS_MAX = 0.3
LIST_SECONDS_MAX = 0.6
ATTEMPTS = 5
# What only other commands need.
HEAVY = (
    "confluent_kafka",
    "numpy",
    "ottla.broker",
    "ottla.client.consuming",
    "ottla.client.producing",
    "ottla.client_security.node_channel",
    "ottla.controller",
    "ottla.simulation",
    "ottla.storage",
    "pyarrow",
    "uvloop",
    "yaml",
)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("node")) as node:
        yield node


def processor_seconds(*arguments: str) -> float:
    """The least of several attempts."""
    return min(_seconds(arguments) for _ in range(ATTEMPTS))


def _seconds(arguments: tuple[str, ...]) -> float:
    process = subprocess.Popen([str(OTTLA), *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_help_takes_little_time() -> None:
    assert processor_seconds("--help") < HELP_SECONDS_MAX


def test_a_request_to_a_cluster_takes_little_time(node: RunningNode) -> None:
    seconds = processor_seconds("topics", "list", "--bootstrap", node.bootstrap)
    assert seconds < LIST_SECONDS_MAX


def test_a_request_to_a_cluster_imports_what_it_needs(node: RunningNode) -> None:
    code = (
        "import sys; sys.argv[:] = ['ottla', 'topics', 'list', '--bootstrap', "
        f"{node.bootstrap!r}]\n"
        "import ottla.cli.main\n"
        "try: ottla.cli.main.run()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1] == "[]"
