"""Spark's classes as Java has them in memory, in a file: loading them is half of a start.

Java calls it class-data sharing. An archive is of one Java and one Spark, so its name tells both.
It is made by a Spark that does a bit of everything and ends (`class_training.py`), under another
name first: Java does not survive an archive that is cut off.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ottla.pipeline.running.cache_directory import cache_directory
from ottla.pipeline.running.java import major_version
from ottla.pipeline.running.spark_home import use_spark_home

_TRAINING_TIMEOUT_S: Final = 600.0
_DIGEST_LENGTH: Final = 12
# Spark names one of its jars twice. From this version on Java forgets one of them when it makes an
# archive, and finds that the class path is another one when it is to use it.
_MAJOR_END: Final = 21
# Compiled for a long life, it would be through before that pays.
_SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1"


class ClassArchive(NamedTuple):
    """Two files: Java's own classes, and Spark's above them, which name the first by its path."""

    java: Path
    directory: Path

    @classmethod
    def of(cls, java: Path) -> ClassArchive:
        """For this Java and the Spark that is installed."""
        import pyspark

        use_spark_home()
        jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent) / "jars"
        real = java.resolve()
        known = [str(real), real.stat().st_mtime_ns, str(jars), jars.stat().st_mtime_ns]
        digest = hashlib.sha256(repr(known).encode()).hexdigest()[:_DIGEST_LENGTH]
        return cls(real, cache_directory() / f"classes-{pyspark.__version__}-{digest}")

    @property
    def is_settled(self) -> bool:
        """It is there, or it is known that it cannot be."""
        major = major_version(self.java)
        is_refused = major is not None and major >= _MAJOR_END
        return is_refused or self._top.exists() or self._failed.exists()

    @property
    def options(self) -> str:
        """Java's, for a Spark that is to start with it: none as long as there is no archive. Where
        it does not fit, as with a class path of the user's, Java takes no notice of it."""
        if not self._top.exists():
            return ""
        files = f"{self._base}:{self._top}"
        return f"-XX:SharedArchiveFile={files} -Xlog:cds=off -Xlog:cds+dynamic=off"

    def make(self) -> None:
        """Takes half a minute. Where it fails, nobody tries again; unless the host was just too
        busy, or nothing can be kept."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            if not self._base.exists():
                self._make_file(self._base, self._make_base)
            self._make_file(self._top, self._make_top)
        except subprocess.CalledProcessError:
            self._failed.touch()
        except (OSError, subprocess.TimeoutExpired):
            return

    def _make_file(self, path: Path, make: Callable[[Path], None]) -> None:
        """Whole, or not at all."""
        new = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            make(new)
            new.rename(path)
        finally:
            new.unlink(missing_ok=True)

    def _make_base(self, path: Path) -> None:
        _run([str(self.java), "-Xshare:dump", f"-XX:SharedArchiveFile={path}"])

    def _make_top(self, path: Path) -> None:
        options = f"-XX:SharedArchiveFile={self._base} -XX:ArchiveClassesAtExit={path}"
        training = "ottla.pipeline.running.class_training"
        _run([sys.executable, "-m", training, f"{options} {_SHORT_LIVED}"])

    @property
    def _base(self) -> Path:
        return self.directory / "java.jsa"

    @property
    def _top(self) -> Path:
        return self.directory / "spark.jsa"

    @property
    def _failed(self) -> Path:
        return self.directory / "failed"


def _run(command: Sequence[str]) -> None:
    subprocess.run(  # noqa: S603 - this program and Java
        command,
        check=True,
        timeout=_TRAINING_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
