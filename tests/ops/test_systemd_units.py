"""The systemd units: systemd accepts them, and their command starts a node that SIGTERM ends."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.nodes.process_end import end_process

UNITS = Path(__file__).resolve().parents[2] / "ops" / "systemd"
NODES = ("ottla.service", "ottla@.service")
NAMES = (*NODES, "ottla-pipelines.service")
OTTLA = str(Path(sys.executable).with_name("ottla"))
INSTALLED = "/opt/ottla/bin/ottla"
# systemd's own measure, from 0 (least exposed) to 10, in tenths.
EXPOSURE_MAX = 20
SECONDS_MAX = 60.0


def systemd_analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed (apt-get install systemd)")
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )


def settings(name: str) -> list[tuple[str, str]]:
    found = re.findall(r"^(\w+)=(.*)$", (UNITS / name).read_text(), re.MULTILINE)
    return [(key, value) for key, value in found]


@pytest.fixture(params=NAMES)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A unit as on a host where the program is installed."""
    copy = tmp_path / str(request.param)
    copy.write_text((UNITS / copy.name).read_text().replace(INSTALLED, OTTLA))
    return copy


def test_systemd_accepts_a_unit(unit: Path) -> None:
    done = systemd_analyze("verify", "--man=no", str(unit))
    assert done.returncode == 0, done.stderr
    assert unit.name not in done.stderr, done.stderr


def test_a_unit_gives_its_process_few_rights(unit: Path) -> None:
    done = systemd_analyze("security", "--offline=true", f"--threshold={EXPOSURE_MAX}", str(unit))
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_units_of_nodes_differ_only_in_the_names_of_files() -> None:
    single, instance = map(settings, NODES)
    of_files = ("Description", "Environment", "EnvironmentFile")

    def others(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [each for each in found if each[0] not in of_files]

    assert others(single) == others(instance)


def test_the_command_of_a_unit_runs_a_node_that_ends_with_its_signal(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text(
        "process.roles=broker,controller\nnode.id=1\n"
        "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0\n"
        "controller.listener.names=CONTROLLER\n"
        f"log.dirs={tmp_path / 'data'}\n"
    )
    unit = dict(settings("ottla.service"))
    # As systemd does: ${NAME} is one word, $NAME is split into words.
    command = unit["ExecStart"].replace(INSTALLED, OTTLA)
    words = shlex.split(
        command.replace("${OTTLA_CONFIG}", str(config)).replace(
            "$OTTLA_OPTIONS", "--set num.partitions=3"
        )
    )
    assert not any("$" in word for word in words)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    watchdog = threading.Timer(SECONDS_MAX, process.kill)
    watchdog.start()
    is_ready = any(line.startswith("Ready on ") for line in process.stdout)
    watchdog.cancel()
    code = end_process(process, signal.Signals[unit["KillSignal"]])
    assert is_ready
    assert code == 0
