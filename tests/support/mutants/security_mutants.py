"""Bugs in authentication and authorization, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from ottla.broker.control import active_controller
from ottla.broker.control.sasl_servers import SaslServers
from ottla.broker.handlers import write_txn_markers
from ottla.controller import api_rights, snapshot_file
from ottla.controller.operations import create_acls, delete_acls
from ottla.metadata import MetadataImage, image_records
from ottla.security.acls.acl import PatternType, Permission
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import USER, Principal, encode_principal
from ottla.security.tokens import TokenCredentials
from ottla.simulation.claims.claims import Claim
from ottla.simulation.claims.kept_security import AcknowledgedSecurityIsKept
from ottla.simulation.claims.security_claims import (
    AllowedIsNotRefused,
    LoginsFollowCredentials,
    RequestsKeepTheirPrincipal,
    ServedOnlyIfAllowed,
)
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.support.mutants.planting import Mutant, around, replacing

_NODES: Final = ("kill", "stop", "pause", "isolate", "part", "reset_connections")


def _keeps_decisions(original: Any) -> Any:
    """Decisions stay in the cache when the ACLs change."""

    def decide(self: Rights, *asked: Any) -> bool:
        authorizer = self._authorizer
        assert authorizer is not None
        if self._decisions.known:
            self._decisions.version = authorizer.version
        decision: bool = original(self, *asked)
        return decision

    return decide


def _allows_by_prefix(original: Any) -> Any:
    """A denial is not looked for where an entry with a prefix allows."""

    def allows(self: StandardAuthorizer, *asked: Any) -> bool:
        principal, host, operation, resource_type, name = asked
        index = self._indexes[resource_type]
        return original(self, *asked) or any(
            pattern.pattern_type is PatternType.PREFIXED
            and name.startswith(pattern.name)
            and entry.permission is Permission.ALLOW
            and entry.applies(host, operation)
            for pattern, entry in index.bindings_of(str(principal))
        )

    return allows


def _keeps_denials(original: Any) -> Any:
    """An entry that denies is not forgotten when it is deleted."""

    def remove(self: StandardAuthorizer, acl_id: Any) -> None:
        if self._records[acl_id].permission_type == Permission.DENY:
            del self._records[acl_id]
        else:
            original(self, acl_id)

    return remove


def _of_this_node(original: Any) -> Any:
    """A forwarded request is one of the node that forwards it."""

    def envelope_of(*arguments: Any) -> Any:
        envelope = original(*arguments)
        if envelope.request_principal is not None:
            envelope.request_principal = encode_principal(Principal(USER, "node"))
        return envelope

    return envelope_of


def _without_changed_credentials(image: MetadataImage) -> Any:
    """A snapshot lacks the credentials that an administrator has changed."""
    for record in image_records(image):
        is_changed = isinstance(record, UserScramCredentialRecord) and not bytes(
            record.salt
        ).startswith(b"salt of the first")
        if not is_changed:
            yield record


def _remembers_credentials(original: Any) -> Any:
    """A credential is looked up once."""
    known: dict[Any, Any] = {}

    def credential(self: SaslServers, *asked: Any) -> Any:
        found = known.get((id(self), *asked)) or original(self, *asked)
        known[id(self), *asked] = found
        return found

    return credential


def _names_by_token(original: Any) -> Any:
    """Who logs in with a token is not its owner."""

    def credential_of(self: TokenCredentials, token_id: str) -> Any:
        found = original(self, token_id)
        return None if found is None else found._replace(owner_name=token_id)

    return credential_of


@contextmanager
def _answers_at_once() -> Iterator[None]:
    """A change that changes nothing needs no majority."""
    with (
        patch.object(create_acls, "confirmed", lambda records: records),
        patch.object(delete_acls, "confirmed", lambda records: records),
    ):
        yield


def _secured(
    name: str,
    plant: Any,
    first_seed: int,
    found_by: type[Claim],
    *,
    seeks: tuple[str, ...] = _NODES,
    **more: Any,
) -> Mutant:
    return Mutant(name, plant, first_seed, found_by, seeks=seeks, is_secured=True, **more)


SECURITY_MUTANTS = (
    _secured(
        "keeps decisions when ACLs change",
        around(Rights, "_decide", _keeps_decisions),
        1,
        ServedOnlyIfAllowed,
    ),
    _secured(
        "ignores denials where a prefix allows",
        around(StandardAuthorizer, "allows", _allows_by_prefix),
        1,
        ServedOnlyIfAllowed,
    ),
    _secured(
        "accepts markers of anyone",
        replacing(write_txn_markers, "_may_write", lambda _rights: True),
        1,
        ServedOnlyIfAllowed,
    ),
    _secured(
        "takes anyone for a node",
        lambda: patch.dict(api_rights.CLUSTER_OPERATIONS, clear=True),
        1,
        ServedOnlyIfAllowed,
    ),
    _secured(
        "keeps denials that were deleted",
        around(StandardAuthorizer, "remove", _keeps_denials),
        1,
        AllowedIsNotRefused,
    ),
    _secured(
        "forwards requests as its own",
        around(active_controller, "_envelope_of", _of_this_node),
        1,
        RequestsKeepTheirPrincipal,
    ),
    _secured(
        "takes a token for its owner",
        around(TokenCredentials, "__call__", _names_by_token),
        1,
        RequestsKeepTheirPrincipal,
    ),
    _secured(
        "accepts passwords that were changed",
        around(SaslServers, "_committed", _remembers_credentials),
        1,
        LoginsFollowCredentials,
    ),
    _secured(
        "loses a changed credential in a snapshot",
        replacing(snapshot_file, "image_records", _without_changed_credentials),
        1,
        AcknowledgedSecurityIsKept,
        snapshot_bytes=1_000,
    ),
    _secured(
        "answers what changes no ACL without a majority",
        _answers_at_once,
        1,
        AcknowledgedSecurityIsKept,
        seeks=("ask_deposed",),
        seconds_max=8,
    ),
)
