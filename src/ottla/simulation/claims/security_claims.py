"""The properties of authentication and authorization that every history must have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ottla.security.acls.acl import AclBinding
from ottla.simulation.access.access_observer import NODE_PRINCIPAL
from ottla.simulation.claims.naive_authorizer import is_allowed
from ottla.simulation.history.history import History
from ottla.simulation.history.security_events import (
    AclsKnown,
    ClusterSecured,
    CredentialMade,
    CredentialsKnown,
    KnownCredential,
    LoginAnswered,
    LoginBegun,
    Need,
    RequestAnswered,
    RequestForwarded,
    ServedAs,
)

_PLAIN: Final = "PLAIN"


class ServedOnlyIfAllowed:
    """A request is served only if the ACLs of the serving node's image allowed all that it needs,
    at some moment between its arrival and its answer."""

    def check(self, history: History) -> Iterator[str]:
        images = _Images(history)
        for answered in history.of(RequestAnswered):
            if answered.is_refused:
                continue
            for need in answered.needs:
                if not any(images.allow(answered, need)):
                    yield f"{answered}, but not at any moment was it allowed"


class AllowedIsNotRefused:
    """A request is not refused if the ACLs of the serving node's image allowed all that it needs
    during all of that time."""

    def check(self, history: History) -> Iterator[str]:
        images = _Images(history)
        for answered in history.of(RequestAnswered):
            if not answered.is_refused or not images.are_known(answered):
                continue
            if all(all(images.allow(answered, need)) for need in answered.needs):
                yield f"{answered}, but all of the time it was allowed"


class RequestsKeepTheirPrincipal:
    """A request is served as one of the principal as which its client has authenticated, also if
    one node forwards it to another."""

    def check(self, history: History) -> Iterator[str]:
        nodes = {NODE_PRINCIPAL}
        users: defaultdict[str, set[str]] = defaultdict(set)
        for begun in history.of(LoginBegun):
            users[begun.who].add(f"User:{begun.user}")
        for served in history.of(ServedAs):
            own = users.get(served.host, nodes)
            if served.principal not in own:
                yield (
                    f"{served.who} served {served.host} as {served.principal}, which is "
                    f"{', '.join(sorted(own))}"
                )
        senders: defaultdict[str, set[str]] = defaultdict(set)
        for forwarded in history.of(RequestForwarded):
            senders[forwarded.digest].add(forwarded.principal)
        for answered in history.of(RequestAnswered):
            own = senders.get(answered.digest, nodes)
            if answered.digest and answered.principal not in own:
                yield (
                    f"{answered.who} served {answered.api} as a request of {answered.principal}, "
                    f"but {', '.join(sorted(own))} sent it"
                )


class LoginsFollowCredentials:
    """A login is accepted only if the credentials of the node's image allowed it at some moment of
    the exchange, and refused only if they did not all of the time."""

    def check(self, history: History) -> Iterator[str]:
        passwords = {
            user: password
            for secured in history.of(ClusterSecured)
            for user, password in secured.plain_users
        }
        begun = {each.nonce: each for each in history.of(LoginBegun) if each.nonce}
        made = {made.credential: made.password for made in history.of(CredentialMade)}
        known = {(each.who, each.version): each for each in history.of(CredentialsKnown)}
        for answered in history.of(LoginAnswered):
            if answered.mechanism == _PLAIN:
                are_right = [passwords.get(answered.name) == answered.proof]
            else:
                password = passwords.get(answered.name, "")
                # Only a node's own logins are not recorded.
                own = LoginBegun(answered.host, answered.name, answered.name, "", password)
                login = begun.get(answered.proof, own)
                are_right = [
                    _is_right(known[answered.who, version], login, made)
                    for version in range(answered.first, answered.last + 1)
                ]
            is_known = all(
                known[answered.who, version].credentials is not None
                for version in range(answered.first, answered.last + 1)
            )
            if answered.is_accepted and not any(are_right):
                yield f"{answered.who} accepted {answered.name} of {answered.host}: wrong password"
            if not answered.is_accepted and is_known and all(are_right):
                yield f"{answered.who} refused {answered.name} of {answered.host}: right password"


class _Images:
    """The ACLs of each node by version, and what they allow."""

    def __init__(self, history: History) -> None:
        self._acls = {(each.who, each.version): each.acls for each in history.of(AclsKnown)}
        self._super_users = {
            user for secured in history.of(ClusterSecured) for user in secured.super_users
        }
        # Many versions have the same entries.
        self._decisions: dict[tuple[Sequence[AclBinding], str, str, Need], bool] = {}

    def are_known(self, answered: RequestAnswered) -> bool:
        """Whether the node had an image all of the time."""
        return all(acls is not None for acls in self._versions(answered))

    def allow(self, answered: RequestAnswered, need: Need) -> Iterator[bool]:
        """The decision of each version during a request."""
        principal, host = answered.principal, answered.host
        for acls in self._versions(answered):
            if principal in self._super_users:
                yield True
            elif acls is None:
                yield False
            else:
                key = (acls, principal, host, need)
                if key not in self._decisions:
                    self._decisions[key] = is_allowed(acls, principal, host, need)
                yield self._decisions[key]

    def _versions(self, answered: RequestAnswered) -> Iterator[tuple[AclBinding, ...] | None]:
        for version in range(answered.first, answered.last + 1):
            yield self._acls[answered.who, version]


def _is_right(
    known: CredentialsKnown, begun: LoginBegun, made: Mapping[KnownCredential, str]
) -> bool:
    """Whether the credentials allow a login with that password, or with that token."""
    if begun.name != begun.user:
        return any(token.id == begun.name for token in known.tokens)
    return any(
        credential.user == begun.user and made.get(credential) == begun.password
        for credential in known.credentials or ()
    )
