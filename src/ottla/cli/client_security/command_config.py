"""`--command-config FILE`: client properties in a file, by Kafka's names."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from ottla.cli.arguments.input_file import unreadable
from ottla.configs.java_properties import parse_properties
from ottla.runtime.exposed_files import warn_if_readable

_BOOTSTRAP: Final = "bootstrap.servers"
# The endings of the names of secrets.
_SECRETS: Final = ("password", "secret", "jaas.config", "keystore.key", "key.pem")


class CommandConfig(NamedTuple):
    """`bootstrap` is the file's bootstrap.servers, if it has them."""

    bootstrap: str | None
    properties: dict[str, str]


def read_command_config(path: Path) -> CommandConfig:
    """Warns if others can read the passwords in it. Raises CommandError."""
    try:
        properties = parse_properties(path.read_text("latin-1"))
    except OSError as error:
        remedy = "give --command-config the path of a file with client properties"
        raise unreadable(path, error, remedy=remedy) from None
    if any(name.endswith(_SECRETS) for name in properties):
        warn_if_readable(str(path), what="secrets in")
    return CommandConfig(properties.pop(_BOOTSTRAP, "") or None, properties)
