"""A property of a client: Kafka's name, its kind, its default and its meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ottla.client.errors import ConfigError

# How a value is read from text, a number or an object. Each raises ValueError with the reason.
Kind = Callable[[Any], Any]


class ClientProperty(NamedTuple):
    """One row of a client's table of properties. Without a default the property is required, or
    None if `default` is None."""

    name: str
    kind: Kind
    default: Any
    meaning: str


REQUIRED: Final[Any] = object()


def table(*properties: ClientProperty) -> Mapping[str, ClientProperty]:
    return {each.name: each for each in properties}


# Kafka's properties that a client takes and does not need: implementations in Java, or limits that
# this client does not have.
IGNORED: Final = frozenset(
    {
        "auto.include.jmx.reporter",
        "config.providers",
        "enable.metrics.push",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "receive.buffer.bytes",
        "send.buffer.bytes",
    }
)


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it must be text")
    return value.strip()


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError("it must be true or false")


def number(*, low: int = 0, high: int = 2**31 - 1) -> Kind:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError("it must be a whole number")
        try:
            found = int(value)
        except ValueError:
            raise ValueError("it must be a whole number") from None
        if not low <= found <= high:
            raise ValueError(f"it must be between {low} and {high}")
        return found

    return read


def one_of(*allowed: str) -> Kind:
    def read(value: Any) -> str:
        found = str(value).strip().lower()
        if found not in allowed:
            raise ValueError(f"it must be one of {', '.join(allowed)}")
        return found

    return read


def names(value: Any) -> tuple[str, ...]:
    """A list, or text with commas."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    return tuple(part.strip() for part in parts if part.strip())


def read_value(known: ClientProperty, value: Any) -> Any:
    """Raises ConfigError."""
    try:
        return known.kind(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{known.name} is {value!r}: {error}.") from None
