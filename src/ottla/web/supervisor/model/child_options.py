"""The config of a deployment: a definition of the supervisor's own directory, and few settings.

A request must not be able to run anything else: a setting such as `spark.jars`, a Java option or
the address of a Spark master would. Those are the operator's, who starts the supervisor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = "file"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_SIZE: Final = re.compile(r"\d{1,6}[kmgKMG]b?", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,5}", re.ASCII)
# What a request may choose, and how it may look.
SETTINGS: Final = {
    "spark.driver.memory": _SIZE,
    "spark.executor.memory": _SIZE,
    "spark.executor.cores": _NUMBER,
    "spark.executor.instances": _NUMBER,
    "spark.cores.max": _NUMBER,
    "spark.sql.shuffle.partitions": _NUMBER,
}


class InvalidDeploymentError(ValueError):
    """The message says which part of a request is not allowed."""


def check_name(name: str) -> None:
    """Raises InvalidDeploymentError. Names become directories, and prefixes of groups."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise InvalidDeploymentError(
            f"{name!r} is not a name: use letters, digits, '.', '_' and '-', at most 100"
        )


def check_config(config: Mapping[str, str]) -> None:
    """Raises InvalidDeploymentError."""
    if not config.get(FILE):
        raise InvalidDeploymentError(f'the config has no "{FILE}", the definition to run')
    for name, value in config.items():
        if name in (FILE, "name"):
            continue
        pattern = SETTINGS.get(name)
        if pattern is None:
            raise InvalidDeploymentError(
                f"{name} cannot be set by a request; {', '.join(sorted(SETTINGS))} can, and the "
                "rest with options of `ottla pipelines serve`"
            )
        if not pattern.fullmatch(value):
            raise InvalidDeploymentError(f"{name} has the invalid value {value!r}")


def definition_file(directory: Path, name: str) -> Path:
    """The file of this name in the directory itself. Raises InvalidDeploymentError."""
    found = directory / name
    is_plain = name == Path(name).name and name.endswith(".py") and not name.startswith(".")
    if not is_plain or found.is_symlink() or not found.is_file():
        raise InvalidDeploymentError(
            f"there is no definition {name!r} in the supervisor's directory: name a Python file of "
            "it, without a path"
        )
    return found
