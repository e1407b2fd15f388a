"""The initial controllers of a cluster, in the syntax of `kafka-storage format
--initial-controllers`:
`1@host-1:9093:JEXY6aqzQY-32P5TStzaFg,2@[::1]:9093:MvDxzVmcRsaTz33bUuRU6A`."""

from __future__ import annotations

import re
from typing import Final

from ottla.controller.formatting import initial_voter
from ottla.model import ZERO_UUID, uuid_from_text, uuid_to_text
from ottla.raft.voters import Voter, VoterEndpoint, VoterSet

_CONTROLLER: Final = re.compile(
    r"(?P<id>[0-9]{1,10})@(\[(?P<bracketed>[^\]]+)\]|(?P<host>[^:\[\]]+)):(?P<port>[0-9]{1,5})"
    r":(?P<directory_id>[\w-]{22})",
    re.ASCII,
)
_FORM: Final = "ID@HOST:PORT:DIRECTORY-ID, such as 1@host-1:9093:JEXY6aqzQY-32P5TStzaFg"
_ID_MAX: Final = 2**31 - 1
_PORT_MAX: Final = 65_535


def parse_initial_controllers(text: str, *, listener_name: str) -> VoterSet:
    """Raises a ValueError with the reason if the text is invalid."""
    voters = [_parse(part.strip(), listener_name=listener_name) for part in text.split(",") if part]
    if not voters:
        raise ValueError(f"no controller is given; write {_FORM}")
    for what, values in (
        ("id", [voter.key.id for voter in voters]),
        ("directory id", [voter.key.directory_id for voter in voters]),
    ):
        if len(set(values)) < len(values):
            raise ValueError(f"two controllers have the same {what}; each needs its own")
    return VoterSet.of(voters)


def format_initial_controllers(voters: VoterSet) -> str:
    return ",".join(map(_format, voters.voters))


def _parse(text: str, *, listener_name: str) -> Voter:
    match = _CONTROLLER.fullmatch(text)
    if match is None or int(match["id"]) > _ID_MAX or int(match["port"]) > _PORT_MAX:
        raise ValueError(f"{text!r} is not a controller; write {_FORM}")
    try:
        directory_id = uuid_from_text(match["directory_id"])
    except ValueError:
        directory_id = ZERO_UUID
    if directory_id == ZERO_UUID:
        raise ValueError(
            f"{match['directory_id']!r} in {text!r} is not a directory id; write {_FORM}"
        )
    endpoint = VoterEndpoint(listener_name, match["bracketed"] or match["host"], int(match["port"]))
    return initial_voter(int(match["id"]), directory_id, endpoint)


def _format(voter: Voter) -> str:
    (endpoint,) = voter.endpoints
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{voter.key.id}@{host}:{endpoint.port}:{uuid_to_text(voter.key.directory_id)}"
