"""The Java process in which Apache Kafka's classes answer questions, one JSON line for another."""

import hashlib
import json
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KAFKA = HERE.parents[2] / ".cache" / "kafka"
KAFKA_VERSION = "4.3.1"
CLASSPATH = f"{KAFKA / 'lib'}/*"
ANSWER_TIMEOUT_S = 60.0
# Starts a short-lived tool fast: no second compiler, no parallel collector, a small heap.
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m")


class JudgeError(Exception):
    """The judge could not answer: Kafka's class threw, the process died, or it took too long."""


def reason_unavailable() -> str | None:
    """Why there is no judge on this machine, or None where there is one."""
    if not (KAFKA / f"{KAFKA_VERSION}.ready").exists():
        return f"Apache Kafka {KAFKA_VERSION}'s jars are not in {KAFKA}: run `make judge`"
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "no java and javac on the PATH: install a JDK (17 or newer)"
    return None


def compiled_classes(folder: Path = HERE) -> Path:
    """Compiles a folder's Java once per content of its sources; sessions may race for it."""
    sources = sorted(folder.glob("*.java"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    classes = KAFKA / "judge" / digest[:16]
    if not classes.exists():
        classes.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
            fresh = Path(scratch) / "classes"
            subprocess.run(["javac", "-d", fresh, "-cp", CLASSPATH, *sources], check=True)
            try:
                fresh.rename(classes)
            except OSError:
                assert classes.exists()
    return classes


class JudgeProcess:
    """Owns one Java process, started by the first question and ended by `close`.

    It runs the class that is named `main`, from the Java sources in `folder`.

    Not for several threads. A question that fails raises JudgeError; the process goes on unless it
    died or was killed for taking too long, after which the judge is of no more use.
    """

    def __init__(
        self,
        folder: Path = HERE,
        main: str = "Judge",
        *,
        answer_timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        self._folder = folder
        self._main = main
        self._answer_timeout_s = answer_timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in close()

    def close(self) -> None:
        if self._process is not None:
            # The judge ends when its standard input does.
            self._process.communicate(timeout=ANSWER_TIMEOUT_S)
        self._stderr.close()

    def send_command(self, command: str, **arguments: Any) -> Any:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        deadline = threading.Timer(self._answer_timeout_s, process.kill)
        deadline.start()
        try:
            process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            deadline.cancel()
        if not line:
            self._stderr.seek(0)
            raise JudgeError(
                f"the judge died or took too long over {command}: {self._stderr.read()}"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise JudgeError(answer["error"])
        return answer["result"]

    def _start(self) -> "subprocess.Popen[str]":
        classes = compiled_classes(self._folder)
        self._process = subprocess.Popen(
            ["java", *JAVA_OPTIONS, "-cp", f"{classes}:{CLASSPATH}", self._main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
        )
        return self._process
