"""Plans users and ACLs."""

from __future__ import annotations

from ottla.cli.apply.changes import AddAcl, DeleteCredential, RemoveAcl, SetCredential
from ottla.cli.apply.draft import Draft
from ottla.cli.apply.subjects import acl_text
from ottla.cli.cluster_file.desired import DesiredState, DesiredUser, ManagedKind
from ottla.cli.cluster_state.present import PresentState
from ottla.client.administration.users import DEFAULT_ITERATIONS
from ottla.security.sasl.scram_credential import ScramMechanism


def plan_users(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for name, user in sorted(desired.users.items()):
        known = dict(present.users.get(name, {}))
        _set(draft, name, user, known)
        for mechanism, iterations in sorted(known.items()):
            if mechanism not in user.mechanisms:
                deletion = DeleteCredential(
                    name, mechanism, iterations, is_last=not user.mechanisms, place=user.place
                )
                draft.prune(f"{mechanism.mechanism} of user {name}", deletion)
    for name, credentials in sorted(present.users.items()):
        if name not in desired.users and desired.is_managed(ManagedKind.USERS, name):
            deletions = (
                DeleteCredential(name, mechanism, iterations, is_last=True)
                for mechanism, iterations in sorted(credentials.items())
            )
            draft.prune(f"user {name}", *deletions)


def _set(draft: Draft, name: str, user: DesiredUser, known: dict[ScramMechanism, int]) -> None:
    """A credential with the right iterations stays: the cluster does not show its password."""
    for mechanism, (place, iterations) in sorted(user.mechanisms.items()):
        before = known.get(mechanism)
        if before is not None and iterations in (None, before):
            continue
        if user.password is None:
            what = "has no credential for" if before is None else f"has {before} iterations of"
            draft.refuse(
                place,
                f"user {name} {what} {mechanism.mechanism} yet, and a new one needs the password; "
                "write password_file or password_env below the user",
            )
            continue
        draft.add(
            SetCredential(
                name,
                place,
                mechanism,
                before,
                iterations or DEFAULT_ITERATIONS,
                user.password,
                is_new_user=not known,
            )
        )


def plan_acls(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    if present.acls is None:
        if desired.acls:
            draft.refuse(
                min(desired.acls.values()),
                "the cluster has no authorizer, and so no ACLs; set authorizer.class.name="
                "org.apache.kafka.metadata.authorizer.StandardAuthorizer on every node, or leave "
                "acls out",
            )
        return
    for binding in sorted(desired.acls.keys() - present.acls):
        draft.add(AddAcl(binding, desired.acls[binding]))
    for binding in sorted(present.acls - desired.acls.keys()):
        if desired.is_managed(ManagedKind.ACLS, binding.pattern.name):
            draft.prune(f"acl {acl_text(binding)}", RemoveAcl(binding))
