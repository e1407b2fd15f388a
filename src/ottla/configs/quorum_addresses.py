"""Parses the entries of `controller.quorum.voters` and `controller.quorum.bootstrap.servers`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Self

# As in Kafka: an optional scheme, a host name or an address, with or without brackets, and a port.
_HOST_AND_PORT: Final = re.compile(
    r"([a-zA-Z]+://)?\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>[0-9]{1,5})"
)
_VOTER_ID: Final = re.compile(r"[+-]?[0-9]{1,10}")
_PORT_MAX: Final = 65_535


class ControllerAddress(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parses HOST:PORT; None if the text has another format."""
        match = _HOST_AND_PORT.fullmatch(text)
        if match is None or int(match["port"]) > _PORT_MAX:
            return None
        return cls(match["host"], int(match["port"]))


class ControllerVoter(NamedTuple):
    """A voter of a static quorum, identified only by its id."""

    id: int
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parses ID@HOST:PORT; None if the text has another format."""
        voter_id, _, rest = text.partition("@")
        address = ControllerAddress.parse(rest)
        if address is None or not _VOTER_ID.fullmatch(voter_id):
            return None
        return cls(int(voter_id), *address)
