"""librdkafka's own test programs, as scripts/fetch-librdkafka builds them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final, NamedTuple, Self

HERE: Final = Path(__file__).resolve().parent
BUILT: Final = HERE.parents[2] / ".cache" / "librdkafka"
VERSION: Final = "2.12.1"
# The broker whose features the programs expect.
KAFKA_VERSION: Final = "4.3.1"
TIMEOUT_S: Final = 300.0
_SHOWN_CHARACTERS: Final = 6_000
_COLOR: Final = re.compile(r"\x1b\[\d+m")
_PASSED: Final = "ALL TESTS PASSED"


def reason_unavailable() -> str | None:
    """Why the programs do not run here, or None where they do."""
    if os.environ.get("OTTLA_CONFORM") != "1":
        return "librdkafka's own tests take minutes: run `make conform`"
    if not (BUILT / f"{VERSION}.ready").exists():
        return f"librdkafka {VERSION}'s tests are not in {BUILT}: run `make conform`"
    return None


class Program(NamedTuple):
    """A line of tests.allow: a program's number, and which part of it runs."""

    number: str
    part: str = ""

    @classmethod
    def parse(cls, line: str) -> Self:
        return cls(*line.split())

    def __str__(self) -> str:
        return f"{self.number}-{self.part}" if self.part else self.number

    def run(self, bootstrap: str, scratch: Path) -> None:
        """Raises AssertionError, with the end of the output, if the program does not pass. All of
        it is in `scratch`."""
        scratch.mkdir()
        config = scratch / "test.conf"
        config.write_text(f"metadata.broker.list={bootstrap}\ntest.topic.random=true\n")
        source = BUILT / "librdkafka"
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": f"{source / 'src'}:{source / 'src-cpp'}",
            "RDKAFKA_TEST_CONF": str(config),
            "TEST_KAFKA_VERSION": KAFKA_VERSION,
            "TESTS": self.number,
        }
        options = ["-p1"]
        passed = [_PASSED]
        if self.part == "quick":
            options.append("-Q")
        elif self.part:
            environment["SUBTESTS"] = self.part
            # A name that no part has would pass as well.
            passed.append(rf"\[ {self.part}\S*: .*PASS \(")
        ran = subprocess.run(
            [str(source / "tests" / "test-runner"), *options],
            cwd=scratch,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
        output = _COLOR.sub("", ran.stdout.decode(errors="replace"))
        (scratch / "output.txt").write_text(output)
        assert ran.returncode == 0, output[-_SHOWN_CHARACTERS:]
        assert all(re.search(each, output) for each in passed), output[-_SHOWN_CHARACTERS:]


def allowed() -> list[Program]:
    lines = (HERE / "tests.allow").read_text().splitlines()
    return [Program.parse(line) for line in lines if line and not line.startswith("#")]
