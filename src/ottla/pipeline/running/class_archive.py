"""An archive of Spark's classes as Java has them in memory (class-data sharing).

Loading these classes takes half of a start without it. An archive is valid for one Java and one
Spark, so its name depends on both. A short training run of Spark creates it (`class_training.py`),
first under a temporary name: Java crashes with a truncated archive.
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
# Spark has one of its jars twice on the class path. From this version on Java records it once in
# the archive, and then rejects the archive because the class path differs.
_MAJOR_END: Final = 21
# The fast compiler only: the training run ends before better code would pay off.
_SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1"


class ClassArchive(NamedTuple):
    """Two files: Java's own classes, and on top of them Spark's, which refer to the first file's
    path."""

    java: Path
    directory: Path

    @classmethod
    def of(cls, java: Path) -> ClassArchive:
        """The archive for this Java and the installed Spark."""
        import pyspark

        use_spark_home()
        jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent) / "jars"
        real = java.resolve()
        known = [str(real), real.stat().st_mtime_ns, str(jars), jars.stat().st_mtime_ns]
        digest = hashlib.sha256(repr(known).encode()).hexdigest()[:_DIGEST_LENGTH]
        return cls(real, cache_directory() / f"classes-{pyspark.__version__}-{digest}")

    @property
    def is_settled(self) -> bool:
        """The archive exists, or cannot be created with this Java and Spark."""
        major = major_version(self.java)
        is_refused = major is not None and major >= _MAJOR_END
        return is_refused or self._top.exists() or self._failed.exists()

    @property
    def options(self) -> str:
        """The Java options to start Spark with the archive; none if there is no archive. Java
        ignores an archive that does not match, such as after a change of the class path."""
        if not self._top.exists():
            return ""
        files = f"{self._base}:{self._top}"
        return f"-XX:SharedArchiveFile={files} -Xlog:cds=off -Xlog:cds+dynamic=off"

    def make(self) -> None:
        """Creates the archive, which takes half a minute. A failure is recorded and not retried,
        except for a timeout or a file that cannot be written."""
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
        """Creates the file atomically."""
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
