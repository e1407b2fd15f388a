"""The directory that Spark takes for its own: that of the package, but for one thing.

Spark shows its Python processes its own Python first, in an archive. What is imported from an
archive is compiled anew in every process: half a second, while all the rest of a start takes 0.2,
and every query starts some. So Spark is shown a home in which the archive is a directory with the
package as it is installed, and compiled.
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
# Those in the archive's place; the second has an archive of its own.
_PACKAGES: Final = ("pyspark", "py4j")


def use_spark_home() -> None:
    """For the Spark that is started next by this process. A home that the user has named stays, and
    where none can be kept, Spark finds its own."""
    import pyspark

    package = Path(pyspark.__file__).parent
    if os.environ.get(_HOME) or not (package / _ARCHIVES / _ARCHIVE).is_file():
        return
    digest = hashlib.sha256(str(package).encode()).hexdigest()[:_DIGEST_LENGTH]
    home = cache_directory() / f"spark-{pyspark.__version__}-{digest}"
    if not home.exists():
        # Nothing can be kept, or somebody else was quicker.
        with suppress(OSError):
            _make(home, package)
    if home.exists():
        os.environ[_HOME] = str(home)


def _make(home: Path, package: Path) -> None:
    """Whole, or not at all."""
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
