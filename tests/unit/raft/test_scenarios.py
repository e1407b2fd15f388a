"""The scripts of tests/scenarios/raft still print what they say."""

from pathlib import Path

import pytest

from tests.support.raft.raft_scenarios import SCENARIOS, replay


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.txt")), ids=lambda path: path.stem)
def test_script_prints_what_it_says(path: Path) -> None:
    script = path.read_text()
    assert replay(script) == script
