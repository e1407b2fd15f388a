"""`ottla simulate`: the faults that it accepts, and the timeline that it prints."""

import pytest
from typer.testing import CliRunner

from ottla.cli.exit_codes import CommandError
from ottla.cli.main import make_app
from ottla.cli.simulate.run import parse_fault
from ottla.simulation.faults.fault_plan import PlannedFault
from ottla.simulation.faults.faults import FAULTS


def test_a_fault_says_when_what_how_long_and_whom() -> None:
    assert parse_fault("3:kill:4.5:1", 7) == PlannedFault(3.0, "kill", 4.5, 7, 1)
    assert parse_fault("3:kill", 7) == PlannedFault(3.0, "kill", 2.0, 7, None)


@pytest.mark.parametrize("text", ["kill", "x:kill", "1:kill:x", "1:kill:1:9", "-1:kill", "1:nap"])
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_fault(text, 0)


def test_a_story_prints_its_faults_and_that_every_claim_holds() -> None:
    result = CliRunner().invoke(make_app("simulate"), ["simulate", "2:kill:2:1", "--seconds", "5"])
    assert result.exit_code == 0, result.output
    assert "node-1       ⚡ is killed" in result.output
    assert "every claim holds" in result.output


def test_every_fault_is_listed_with_one_plain_sentence() -> None:
    result = CliRunner().invoke(make_app("simulate"), ["simulate", "--faults"])
    lines = dict(line.split(maxsplit=1) for line in result.output.splitlines())
    assert list(lines) == list(FAULTS)
    for sentence in lines.values():
        assert sentence[0].isupper(), sentence
        assert sentence.endswith("."), sentence
