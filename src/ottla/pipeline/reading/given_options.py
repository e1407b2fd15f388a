"""Options as Spark passes them, of reads and of writes: their names, and values of a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.client_security.client_security import ClientSecurity, parse_client_security
from ottla.client_security.errors import ClientPropertyError
from ottla.client_security.node_channel import channel_security
from ottla.pipeline.reading.errors import OptionError

_CLIENT_PREFIX: Final = "kafka."


def named_options(options: Mapping[str, str], known: Sequence[str], *, of: str) -> dict[str, str]:
    """The options under the spelling of `known`: Spark's option names are case-insensitive. `of`:
    the kind of options, for the error message."""
    spellings = {name.lower(): name for name in known}
    named = {}
    for name, value in options.items():
        lower = name.lower()
        if lower.startswith(_CLIENT_PREFIX):
            named[lower] = value
        elif lower in spellings:
            named[spellings[lower]] = value
        else:
            raise OptionError(
                f"{name} is not an option of this {of}; options are {', '.join(known)}"
            )
    return named


def parse_security(given: Mapping[str, str]) -> ClientSecurity:
    """From the options with the prefix `kafka.`, by the names of Kafka's clients. Raises
    OptionError. Files that the options name must be on every host that runs tasks."""
    properties = {
        name.removeprefix(_CLIENT_PREFIX): value
        for name, value in given.items()
        if name.startswith(_CLIENT_PREFIX)
    }
    try:
        security = parse_client_security(properties)
        channel_security(security)
    except ClientPropertyError as error:
        raise OptionError(" ".join(("options kafka.*:", error.message, *error.hints))) from None
    return security


def one_of(given: Mapping[str, str], name: str, allowed: tuple[str, str]) -> str:
    """The first allowed value is the default."""
    text = given.get(name, allowed[0]).strip().lower()
    if text not in allowed:
        raise OptionError(f"{name} is {given[name]!r}; it must be {' or '.join(allowed)}")
    return text
