"""A SPARK_HOME that is the installed package, except that its zip archive is a directory.

Spark puts its own pyspark.zip first on the path of its Python workers. Modules from a zip file are
compiled again in every process: half a second, while the rest of a worker's start takes 0.2 s, and
every query starts some workers. So in this home the archive is replaced by a directory that links
to the installed packages, which are compiled already.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from ottla.pipeline.running.cache_directory import cache_directory

_HOME: Final = "SPARK_HOME"
_DIGEST_LENGTH: Final = 12
_TAKEN_OVER: Final = ("bin", "sbin", "jars", "data")
_ARCHIVES: Final = Path("python", "lib")
_ARCHIVE: Final = "pyspark.zip"
# The packages in the archive's place. py4j has its own archive in the installed Spark.
_PACKAGES: Final = ("pyspark", "py4j")


def use_spark_home() -> None:
    """Sets SPARK_HOME for the next Spark of this process, unless the user has set it. If the home
    cannot be created, Spark uses its default."""
    import pyspark

    package = Path(pyspark.__file__).parent
    if os.environ.get(_HOME) or not (package / _ARCHIVES / _ARCHIVE).is_file():
        return
    digest = hashlib.sha256(str(package).encode()).hexdigest()[:_DIGEST_LENGTH]
    home = cache_directory() / f"spark-{pyspark.__version__}-{digest}"
    if not home.exists():
        # The directory is not writable, or another process has created the home.
        with suppress(OSError):
            _make(home, package)
    if home.exists():
        os.environ[_HOME] = str(home)


def _make(home: Path, package: Path) -> None:
    """Creates the home atomically."""
    new = home.with_name(f"{home.name}.{os.getpid()}")
    archives = new / _ARCHIVES
    try:
        (archives / _ARCHIVE).mkdir(parents=True)
        for name in _TAKEN_OVER:
            (new / name).symlink_to(package / name)
        for path in (package / _ARCHIVES).iterdir():
            if path.name != _ARCHIVE:
                (archives / path.name).symlink_to(path)
        for name in _PACKAGES:
            found = importlib.util.find_spec(name)
            if found is not None and found.origin is not None:
                (archives / _ARCHIVE / name).symlink_to(Path(found.origin).parent)
        new.rename(home)
    finally:
        shutil.rmtree(new, ignore_errors=True)
