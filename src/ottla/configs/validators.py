"""Validators of config values, beyond their type.

A validator returns the reason for rejecting a value, or None. Its `str` is the text of "valid
values" in Kafka's documentation.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Protocol

from ottla.configs.quorum_addresses import ControllerAddress, ControllerVoter
from ottla.configs.value import ConfigValue

_THROTTLED_REPLICA: Final = re.compile(r"([0-9]+:[0-9]+)?")
_GZIP_LEVEL_DEFAULT: Final = -1
_NUMBER: Final = "[-+]?[0-9]{1,15}"
_DURATION: Final = re.compile(
    rf"(?P<sign>[-+]?)P(?=[-+0-9T])((?P<days>{_NUMBER})D)?"
    rf"(T(?=[-+0-9])((?P<hours>{_NUMBER})H)?((?P<minutes>{_NUMBER})M)?"
    rf"((?P<seconds>{_NUMBER})([.,][0-9]{{0,9}})?S)?)?",
    re.IGNORECASE,
)


class Validator(Protocol):
    def refusal(self, value: ConfigValue) -> str | None:
        """The reason for rejecting a value of the config's type, or None."""


class Range(NamedTuple):
    minimum: float
    maximum: float | None = None

    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, int | float)
        if value < self.minimum:
            return f"Value must be at least {self.minimum}"
        if self.maximum is not None and value > self.maximum:
            return f"Value must be no more than {self.maximum}"
        return None

    def __str__(self) -> str:
        end = "" if self.maximum is None else f",{self.maximum}"
        return f"[{self.minimum},...{end}]"


class OneOf(NamedTuple):
    allowed: tuple[str, ...]

    def refusal(self, value: ConfigValue) -> str | None:
        return (
            None if value in self.allowed else f"String must be one of: {', '.join(self.allowed)}"
        )

    def __str__(self) -> str:
        return f"[{', '.join(self.allowed)}]"


class OneOfInAnyCase(NamedTuple):
    allowed: tuple[str, ...]

    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, str)
        if value.upper() in self.allowed:
            return None
        return f"String must be one of (case insensitive): {', '.join(self.allowed)}"

    def __str__(self) -> str:
        return f"(case insensitive) [{', '.join(self.allowed)}]"


class ListOf(NamedTuple):
    """A list without duplicate or empty values; if `allowed` is not empty, only of those values."""

    allowed: tuple[str, ...] = ()
    may_be_empty: bool = True

    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, tuple)
        if not value and not self.may_be_empty:
            return f"The list must not be empty. Valid values include: {str(self) or 'any'}"
        if len(set(value)) < len(value):
            return "The list must not have a value twice"
        if "" in value:
            return "The list must not have an empty value"
        if self.allowed and not set(value) <= set(self.allowed):
            return f"String must be one of: {', '.join(self.allowed)}"
        return None

    def __str__(self) -> str:
        return f"[{', '.join(self.allowed)}]" if self.allowed else ""


class NonEmptyString:
    def refusal(self, value: ConfigValue) -> str | None:
        return None if value else "String must be non-empty"

    def __str__(self) -> str:
        return "non-empty string"


class GzipLevel:
    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, int)
        if value == _GZIP_LEVEL_DEFAULT or 1 <= value <= 9:
            return None
        return f"Value must be between 1 and 9 or equal to {_GZIP_LEVEL_DEFAULT}"

    def __str__(self) -> str:
        return f"[1,...,9] or {_GZIP_LEVEL_DEFAULT}"


class SchemaContext:
    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, str)
        return None if value.startswith(".") and ":" not in value else f"Value must be {self}"

    def __str__(self) -> str:
        return "a name that begins with a dot"


class ThrottledReplicas:
    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, tuple)
        if all(map(_THROTTLED_REPLICA.fullmatch, value)) or "".join(value) == "*":
            return None
        return f"Value must be '*' or a list of replicas: {self}"

    def __str__(self) -> str:
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


class OffsetResetByDuration:
    """A duration has the format of Java's `Duration`."""

    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, str)
        if value in ("earliest", "latest"):
            return None
        kind, _, text = value.partition(":")
        duration = _DURATION.fullmatch(text)
        if kind == "by_duration" and duration is not None and _seconds(duration) >= 0:
            return None
        return (
            "Value must be earliest, latest or by_duration:PnDTnHnMn.nS with a duration that is "
            "not negative"
        )

    def __str__(self) -> str:
        return "[latest, earliest, by_duration:PnDTnHnMn.nS]"


class QuorumVotersValidator:
    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, tuple)
        wrong = [voter for voter in value if ControllerVoter.parse(voter) is None]
        return f"{wrong[0]} is not of the form {{id}}@{{host}}:{{port}}" if wrong else None

    def __str__(self) -> str:
        return "non-empty list"


class BootstrapServers:
    def refusal(self, value: ConfigValue) -> str | None:
        assert isinstance(value, tuple)
        wrong = [server for server in value if ControllerAddress.parse(server) is None]
        return f"{wrong[0]} is not of the form {{host}}:{{port}}" if wrong else None

    def __str__(self) -> str:
        return "non-empty list"


def _seconds(duration: re.Match[str]) -> int:
    """Whole seconds; the fraction does not affect whether a duration is negative."""
    days, hours, minutes, seconds = (
        int(duration[unit] or 0) for unit in ("days", "hours", "minutes", "seconds")
    )
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return -total if duration["sign"] == "-" else total


def at_least(minimum: float) -> Range:
    return Range(minimum)


def between(minimum: float, maximum: float) -> Range:
    return Range(minimum, maximum)


def one_of(*allowed: str) -> OneOf:
    return OneOf(allowed)


def list_of(*allowed: str, may_be_empty: bool = True) -> ListOf:
    return ListOf(allowed, may_be_empty)
