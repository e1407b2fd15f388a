"""SCRAM credentials of users (KIP-554).

A password never leaves this process: the cluster receives a salt and the salted password.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.client.administration.requests import AdminRequests, outcome, require
from ottla.client.administration.results import Results
from ottla.configs.value import Password
from ottla.runtime.dice import Dice
from ottla.security.sasl.scram_credential import (
    ScramMechanism,
    check_iterations,
    random_text,
    salt_password,
)
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)

DEFAULT_ITERATIONS: Final = 8192


class ScramCredentialInfo(NamedTuple):
    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class ScramPassword:
    """A password to set."""

    user: str
    password: str | Password = field(repr=False)
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
    iterations: int = DEFAULT_ITERATIONS


class ScramDeletion(NamedTuple):
    """A credential to delete."""

    user: str
    mechanism: ScramMechanism


class UserOperations(AdminRequests):
    """The methods of `Admin` for SCRAM users."""

    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, tuple[ScramCredentialInfo, ...]]:
        """The mechanisms and iterations of users, never their keys; None for all users, in order of
        their names."""
        names = None if users is None else [UserName(name=each) for each in dict.fromkeys(users)]
        if names == []:
            return Results({})
        answer = await self._ask_controller(
            "list the users",
            DescribeUserScramCredentialsRequest(users=names),
            timeout,
            lambda answer: require(answer.error_code, answer.error_message),
        )
        return Results(
            {
                each.user: outcome(
                    tuple(
                        sorted(
                            ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
                            for info in each.credential_infos
                        )
                    ),
                    each.error_code,
                    each.error_message,
                )
                for each in sorted(answer.results, key=lambda each: str(each.user))
            }
        )

    async def alter_user_scram_credentials(
        self, changes: Iterable[ScramPassword | ScramDeletion], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Sets passwords and deletes credentials, by user. A call may name a user once only. Raises
        ValueError for a number of iterations that Kafka does not allow."""
        deletions, upsertions = [], []
        for change in changes:
            if isinstance(change, ScramDeletion):
                deletions.append(
                    ScramCredentialDeletion(name=change.user, mechanism=change.mechanism)
                )
            else:
                upsertions.append(salted_upsertion(change, self._cluster.dice))
        if not deletions and not upsertions:
            return Results({})
        answer = await self._ask_controller(
            "change users",
            AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions),
            timeout,
        )
        return Results(
            {
                each.user: outcome(None, each.error_code, each.error_message)
                for each in answer.results
            }
        )


def salted_upsertion(new: ScramPassword, dice: Dice) -> ScramCredentialUpsertion:
    """A new credential, with a random salt. Raises ValueError."""
    check_iterations(new.iterations)
    password = Password(new.password) if isinstance(new.password, str) else new.password
    salt = random_text(dice.below).encode()
    return ScramCredentialUpsertion(
        name=new.user,
        mechanism=new.mechanism,
        iterations=new.iterations,
        salt=salt,
        salted_password=salt_password(
            new.mechanism.hash_name, password, salt=salt, iterations=new.iterations
        ),
    )
