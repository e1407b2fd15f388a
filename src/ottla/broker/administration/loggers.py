"""The node's loggers as BROKER_LOGGER resources, with Kafka's names for the levels (KIP-412).

Levels set here are lost when the process ends.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from ottla.configs import InvalidConfigError
from ottla.model import ErrorCode, KafkaError

ROOT: Final = "root"

# Python has no predefined level below DEBUG.
_TRACE: Final = 5
_LEVELS: Final[Mapping[str, int]] = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": _TRACE,
}


def logger_levels() -> dict[str, str]:
    """The effective level of every logger."""
    named = sorted(
        name
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger)
    )
    return {name: _level_name(_logger(name)) for name in (ROOT, *named)}


def check_logger_level(name: str, level: str | None) -> None:
    """Raises KafkaError if the logger does not exist or cannot have the level. The level None means
    the parent's."""
    if name not in logger_levels():
        raise InvalidConfigError(f"Logger {name} does not exist!")
    if level is None and name == ROOT:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "Removing the log level of the root logger is not allowed: set another level instead",
        )
    if level is not None and level not in _LEVELS:
        raise InvalidConfigError(
            f"Cannot set the log level of {name} to {level}: it is not one of {', '.join(_LEVELS)}"
        )


def set_logger_level(name: str, level: str | None) -> None:
    check_logger_level(name, level)
    _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(logger: logging.Logger) -> str:
    effective = logger.getEffectiveLevel()
    return next((name for name, level in _LEVELS.items() if level <= effective), "TRACE")
