"""librdkafka's own test programs pass on three nodes, as far as tests.allow lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeAlias

import pytest

from tests.conformance.librdkafka.programs import Program, allowed, reason_unavailable
from tests.support.nodes.cluster_processes import ClusterProcesses

# The programs mostly wait, for timers of groups above all.
_AT_ONCE: Final = 3
_PROPERTIES: Final = {
    # What the programs expect of topics that are made because a client asks for them.
    "num.partitions": "4",
    # With 0 the first member of a group may form a generation alone: see FINDINGS.md.
    "group.initial.rebalance.delay.ms": "500",
}
Runs: TypeAlias = Mapping[Program, "Future[None]"]


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runs]:
    """All programs that this session selects, started side by side on one cluster."""
    if reason := reason_unavailable():
        pytest.skip(reason)
    selected: dict[Any, str] = {
        item.callspec.params["program"]: item.name
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
    }
    scratch = tmp_path_factory.mktemp("librdkafka")
    with (
        ClusterProcesses(scratch, _PROPERTIES) as cluster,
        ThreadPoolExecutor(_AT_ONCE) as executor,
    ):
        yield {
            program: executor.submit(program.run, cluster.bootstrap, scratch / name)
            for program, name in selected.items()
        }
        cluster.assert_no_traceback()


@pytest.mark.parametrize("program", allowed(), ids=str)
def test_program_passes(program: Program, runs: Runs) -> None:
    runs[program].result()
