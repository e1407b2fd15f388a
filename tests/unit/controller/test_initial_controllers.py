import pytest

from ottla.controller.initial_controllers import (
    format_initial_controllers,
    parse_initial_controllers,
)
from ottla.model import uuid_from_text
from ottla.raft.voters import KRaftVersions, ReplicaKey, Voter, VoterEndpoint

FIRST, SECOND = "JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A"


def test_controllers_are_read_as_kafkas_tool_reads_them() -> None:
    text = f"2@[::1]:9094:{SECOND}, 1@host-1:9093:{FIRST}"
    voters = parse_initial_controllers(text, listener_name="CONTROLLER")
    assert voters.voters == (
        Voter(
            ReplicaKey(1, uuid_from_text(FIRST)),
            (VoterEndpoint("CONTROLLER", "host-1", 9093),),
            KRaftVersions(0, 1),
        ),
        Voter(
            ReplicaKey(2, uuid_from_text(SECOND)),
            (VoterEndpoint("CONTROLLER", "::1", 9094),),
            KRaftVersions(0, 1),
        ),
    )
    assert format_initial_controllers(voters) == f"1@host-1:9093:{FIRST},2@[::1]:9094:{SECOND}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no controller is given"),
        (f"host:9093:{FIRST}", "is not a controller"),
        (f"-1@host:9093:{FIRST}", "is not a controller"),
        (f"1@host:99999:{FIRST}", "is not a controller"),
        (f"1@:9093:{FIRST}", "is not a controller"),
        (f"1@::1:9093:{FIRST}", "is not a controller"),
        (f"{2**31}@host:9093:{FIRST}", "is not a controller"),
        ("1@host:9093", "is not a controller"),
        ("1@host:9093:AAAAAAAAAAAAAAAAAAAAAA", "is not a directory id"),
        (f"1@a:1:{FIRST},1@b:2:{SECOND}", "the same id"),
        (f"1@a:1:{FIRST},2@b:2:{FIRST}", "the same directory id"),
    ],
)
def test_what_is_no_list_of_controllers_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_initial_controllers(text, listener_name="CONTROLLER")
