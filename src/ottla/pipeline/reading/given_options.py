"""Options as Spark passes them, of reads and of writes: their names, and values of a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

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


def one_of(given: Mapping[str, str], name: str, allowed: tuple[str, str]) -> str:
    """The first allowed value is the default."""
    text = given.get(name, allowed[0]).strip().lower()
    if text not in allowed:
        raise OptionError(f"{name} is {given[name]!r}; it must be {' or '.join(allowed)}")
    return text
