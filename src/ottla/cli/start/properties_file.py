"""Reads a node's server.properties."""

from __future__ import annotations

import logging
from pathlib import Path

from ottla.cli.arguments.input_file import unreadable_text
from ottla.configs.java_properties import parse_properties
from ottla.configs.synonyms import broker_definition
from ottla.runtime.exposed_file import exposed_file_warning

_log = logging.getLogger(__name__)


def read_properties(file: Path) -> dict[str, str]:
    """Warns if others can read the passwords in it. Raises ValueError."""
    try:
        properties = parse_properties(file.read_text("latin-1"))
    except OSError as error:
        remedy = "give --config the path of the node's server.properties"
        raise ValueError(unreadable_text(file, error, remedy=remedy)) from None
    if any(text and _is_secret(name) for name, text in properties.items()) and (
        warning := exposed_file_warning(str(file), "the passwords in")
    ):
        _log.warning("%s", warning)
    return properties


def _is_secret(name: str) -> bool:
    definition = broker_definition(name)
    return definition is not None and definition.is_sensitive
