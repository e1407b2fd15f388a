"""Controllers as `controller.quorum.voters` and `controller.quorum.bootstrap.servers` name them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Self

# A scheme, a host that is a name or an address, in brackets or not, and a port, as Kafka has it.
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
        """From HOST:PORT, or None if it is something else."""
        match = _HOST_AND_PORT.fullmatch(text)
        if match is None or int(match["port"]) > _PORT_MAX:
            return None
        return cls(match["host"], int(match["port"]))


class ControllerVoter(NamedTuple):
    """A voter of a quorum whose members never change: known by its id alone."""

    id: int
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """From ID@HOST:PORT, or None if it is something else."""
        voter_id, _, rest = text.partition("@")
        address = ControllerAddress.parse(rest)
        if address is None or not _VOTER_ID.fullmatch(voter_id):
            return None
        return cls(int(voter_id), *address)
