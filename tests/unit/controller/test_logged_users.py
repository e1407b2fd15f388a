"""Controllers authenticate each other with what their log has, before anything is committed."""

from __future__ import annotations

from ottla.controller.committed_metadata import CommittedMetadata
from ottla.controller.logged_users import LoggedUsers
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.metadata.features import INITIAL_LEVELS
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
from ottla.wire.stored.cluster_metadata.security import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

MECHANISM = 2
LEVELS = [FeatureLevelRecord(name=name, feature_level=it) for name, it in INITIAL_LEVELS.items()]


def user(name: str, salt: bytes = b"salt") -> UserScramCredentialRecord:
    return UserScramCredentialRecord(name=name, mechanism=MECHANISM, salt=salt)


def metadata_with(*committed: Message) -> CommittedMetadata:
    replay = MetadataReplay(MetadataImage())
    replay.take(committed, MetadataDelta())
    return CommittedMetadata(replay, end_offset=len(committed))


def users_of(metadata: CommittedMetadata, *bootstrap: Message) -> LoggedUsers:
    return LoggedUsers(metadata, lambda: bootstrap)


def test_a_new_cluster_has_the_users_that_it_was_formatted_with() -> None:
    users = users_of(metadata_with(), *LEVELS, user("controller"))
    assert users.credential("controller", MECHANISM) == user("controller")
    assert users.credential("controller", MECHANISM - 1) is None
    assert users.credential("other", MECHANISM) is None


def test_users_of_the_log_replace_those_of_the_bootstrap_file() -> None:
    metadata = metadata_with(*LEVELS, user("committed"))
    users = users_of(metadata, user("controller"))
    assert users.credential("controller", MECHANISM) is None
    assert users.credential("committed", MECHANISM) == user("committed")


def test_what_is_not_known_to_be_committed_counts() -> None:
    metadata = metadata_with(*LEVELS, user("a"), user("b"))
    users = users_of(metadata)
    end = metadata.end_offset
    metadata.appended(end + 1, [user("a", b"another salt")])
    metadata.appended(end + 2, [RemoveUserScramCredentialRecord(name="b", mechanism=MECHANISM)])
    assert users.credential("a", MECHANISM) == user("a", b"another salt")
    assert users.credential("b", MECHANISM) is None
    metadata.commit(end + 2)
    assert users.credential("a", MECHANISM) == user("a", b"another salt")
    assert users.credential("b", MECHANISM) is None


def test_truncated_records_count_no_more() -> None:
    metadata = metadata_with(*LEVELS, user("a"))
    users = users_of(metadata)
    end = metadata.end_offset
    metadata.appended(end + 1, [user("a", b"another salt")])
    assert users.credential("a", MECHANISM) == user("a", b"another salt")
    metadata.truncated(end)
    assert users.credential("a", MECHANISM) == user("a")
    # Other records up to the same offset.
    metadata.appended(end + 1, [user("b")])
    assert users.credential("b", MECHANISM) == user("b")
