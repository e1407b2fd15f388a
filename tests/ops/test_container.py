"""The container file, whose steps are carried out in a fresh directory instead of an image.

Packages are taken from the environment of the tests and not from a package index, and steps that
need root are left out.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

from ottla.configs import NodeConfig
from tests.ops.containerfile import Instruction, read_containerfile
from tests.support.nodes.process_end import end_process
from tests.support.soak import IS_SOAK

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "ops" / "container" / "Containerfile"
BUILD, IMAGE = read_containerfile(FILE)
VENV = "/opt/ottla"
DATA = "/var/lib/ottla"
SECONDS_MAX = 120.0
# It compiles everything to bytecode, which takes longer than the rest.
LONG = "compileall"


def run(*command: str, directory: Path) -> None:
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=SECONDS_MAX
    )
    assert done.returncode == 0, done.stdout + done.stderr


def one(name: str, stage: list[Instruction] = IMAGE) -> Instruction:
    (found,) = [each for each in stage if each.name == name]
    return found


def test_every_instruction_is_one_that_the_test_knows() -> None:
    known = {"FROM", "WORKDIR", "COPY", "RUN"}
    assert {each.name for each in BUILD} == known
    of_image = known | {"USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
    assert {each.name for each in IMAGE} == of_image
    assert one("USER").text != "root"
    assert one("VOLUME").text == one("WORKDIR").text == DATA


def test_what_is_copied_is_enough_to_build_and_run_a_node(tmp_path: Path) -> None:
    source, venv, data = tmp_path / "src", tmp_path / "venv", tmp_path / "data"
    source.mkdir()
    for step in BUILD:
        if step.name == "COPY":
            *files, target = step.text.split()
            copy(files, source / target)
        elif step.name == "RUN":
            build(step.text, source, venv)
    assert one("COPY").text == f"--from=build {VENV} {VENV}"
    words = [*one("ENTRYPOINT").words, *one("CMD").words]
    start_and_stop(
        [
            word.replace(VENV, str(venv)).replace(DATA, str(data)).replace(":9092", ":0")
            for word in words
        ]
    )


def copy(files: list[str], target: Path) -> None:
    for name in files:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)


def build(command: str, source: Path, venv: Path) -> None:
    """A RUN step, with the packages of this environment."""
    python = str(venv / "bin" / "python")
    if command == f"python -m venv {VENV}":
        run(sys.executable, "-m", "venv", "--without-pip", str(venv), directory=source)
        (site,) = venv.glob("lib/python*/site-packages")
        (site / "of_tests.pth").write_text(sysconfig.get_path("purelib"))
    elif command.startswith(f"{VENV}/bin/python -m pip install "):
        pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
        offline = ("--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
        run(*pip, "install", "--quiet", *offline, command.split()[-1].strip("'"), directory=source)
    else:
        assert LONG in command, f"the test does not know the step {command!r}"
        if IS_SOAK:
            run(*command.replace(f"{VENV}/bin/python", python).split(), directory=source)


def start_and_stop(words: list[str]) -> None:
    # Port 0 is one that the node chooses; it cannot be advertised.
    place = words.index("--advertise")
    del words[place : place + 2]
    words[words.index("--listen") + 1] = "127.0.0.1:0"
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    watchdog = threading.Timer(SECONDS_MAX, process.kill)
    watchdog.start()
    line = process.stdout.readline()
    watchdog.cancel()
    code = end_process(process, signal.Signals[one("STOPSIGNAL").text])
    errors = process.stderr.read()
    process.stderr.close()
    assert line.startswith("Ready on "), line + errors
    assert code == 0, errors


def test_the_default_command_listens_to_other_hosts_and_advertises_an_address() -> None:
    words = one("CMD").words
    listen = words[words.index("--listen") + 1]
    advertised = words[words.index("--advertise") + 1]
    assert listen == "0.0.0.0:9092"
    config = NodeConfig.from_properties(
        "process.roles=broker,controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=PLAINTEXT://{listen},CONTROLLER://127.0.0.1:0\nlog.dirs=/tmp\n"
        f"advertised.listeners=PLAINTEXT://{advertised}\n"
        "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
    )
    assert config.listeners


@pytest.mark.parametrize("port", ["9092", "9404"])
def test_ports_are_those_of_the_documentation(port: str) -> None:
    assert port in one("EXPOSE").text.split()
    assert port in (ROOT / "docs" / "operations.md").read_text()
