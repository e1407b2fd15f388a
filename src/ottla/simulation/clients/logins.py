"""The users of a secured cluster: their passwords and tokens, and how their clients log in.

A client authenticates as the user of its host. While a password is being changed, it tries the old
and the new one. Passwords and tokens that are not valid any more are for the thief.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ottla.channels import ChannelSecurity
from ottla.configs.value import Password
from ottla.runtime.network import Address
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import (
    ITERATIONS_MIN,
    SCRAM_BY_NAME,
    ScramMechanism,
    make_credential,
)
from ottla.simulation.history.history import Event
from ottla.simulation.history.security_events import (
    CredentialMade,
    KnownCredential,
    LoginBegun,
)
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.host import Host
from ottla.simulation.world.node import CONTROLLER_PORT
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

# Their clients have the names of these hosts.
GUEST: Final = "guest"
THIEF: Final = "thief"
_DESK: Final = "desk of "
_POCKET: Final = "pocket of "
_TOKEN_PROBABILITY: Final = 0.5


class GivenToken(NamedTuple):
    """A delegation token as its owner has it."""

    id: str
    hmac: bytes

    @property
    def password(self) -> str:
        return b64encode(self.hmac).decode()


class Secret(NamedTuple):
    """What a client authenticates with. `name` is the user or a token's id."""

    user: str
    name: str
    mechanism: Mechanism
    password: str
    is_token: bool = False


class User:
    """A user, who may have several passwords while they are being changed: the newest is last."""

    def __init__(self, name: str, mechanism: Mechanism) -> None:
        self.name = name
        self.mechanism = mechanism
        self.passwords = [f"the first password of {name}"]
        self.token: GivenToken | None = None
        # Whether an administrator is changing a credential or a token of the user.
        self.is_changing = False
        self._passwords_made = 1

    @property
    def scram(self) -> ScramMechanism | None:
        return SCRAM_BY_NAME.get(self.mechanism)

    def add_password(self) -> str:
        self._passwords_made += 1
        self.passwords.append(f"password {self._passwords_made} of {self.name}")
        return self.passwords[-1]


class Logins:
    """Belongs to a world. `user_of` has the user of a host by the host's name."""

    def __init__(
        self,
        record: Callable[[Event], None],
        dice: SeededDice,
        users: Iterable[User],
        user_of: Callable[[str], str],
    ) -> None:
        self._record = record
        self._dice = dice
        self._user_of = user_of
        self.users: Mapping[str, User] = {user.name: user for user in users}
        # Not valid any more, or never.
        self._stolen = [Secret(GUEST, GUEST, Mechanism.PLAIN, "a guess")]
        # The passwords of all credentials that were made, by user and stored key.
        self._passwords: dict[tuple[str, bytes], str] = {}
        self._begun = 0

    def channel_security(self, host: Host, address: Address) -> ChannelSecurity:
        return ChannelSecurity(mechanism=lambda: self._begin(host, address))

    def desk_of(self, user: str) -> str:
        """The name of the host from which the user changes settings."""
        return f"{_DESK}{user}"

    def pocket_of(self, user: str) -> str:
        """The name of the host from which the user logs in with a token."""
        return f"{_POCKET}{user}"

    def make_credential(self, user: User, password: str) -> UserScramCredentialRecord:
        scram = user.scram
        assert scram is not None, f"{user.name} uses {user.mechanism}"
        salt = f"salt of {password}".encode()
        made = make_credential(scram, Password(password), salt=salt, iterations=ITERATIONS_MIN)
        known = KnownCredential(user.name, scram, made.stored_key.hex())
        self._passwords[user.name, made.stored_key] = password
        self._record(CredentialMade("logins", known, password))
        return UserScramCredentialRecord(
            name=user.name,
            mechanism=scram,
            salt=made.salt,
            stored_key=made.stored_key,
            server_key=made.server_key,
            iterations=made.iterations,
        )

    def password_of(self, credential: UserScramCredentialRecord) -> str:
        """The password that a credential in an image was made of."""
        return self._passwords[credential.name, credential.stored_key]

    def keep_only(self, user: User, password: str) -> None:
        """The user's other passwords are not valid any more."""
        for other in user.passwords:
            if other != password:
                self._stolen.append(Secret(user.name, user.name, user.mechanism, other))
        user.passwords = [password]

    def give_up_token(self, user: User) -> None:
        """The user's token is removed, or about to be."""
        if user.token is not None:
            self._stolen.append(_token_secret(user, user.token))
            user.token = None

    def _begin(self, host: Host, address: Address) -> ClientMechanism:
        secret = self._secret(host.name, address)
        nonce = ""
        if secret.mechanism is not Mechanism.PLAIN:
            self._begun += 1
            nonce = f"nonce-{self._begun}"
        self._record(LoginBegun(host.name, secret.user, secret.name, nonce, secret.password))
        password = Password(secret.password)
        if not nonce:
            return PlainClient(secret.name, password)
        scram = SCRAM_BY_NAME[secret.mechanism]
        return ScramClient(scram, secret.name, password, nonce=nonce, is_token=secret.is_token)

    def _secret(self, host: str, address: Address) -> Secret:
        if host == THIEF:
            return self._dice.choice(self._stolen)
        if host.startswith(_DESK):
            # A token cannot be used to create another one.
            user, probability = self.users[host.removeprefix(_DESK)], 0.0
        elif host.startswith(_POCKET):
            user, probability = self.users[host.removeprefix(_POCKET)], 1.0
        else:
            user, probability = self.users[self._user_of(host)], _TOKEN_PROBABILITY
        if address.port == CONTROLLER_PORT:
            probability = 0.0
        if user.token is not None and self._dice.chance(probability):
            return _token_secret(user, user.token)
        password = self._dice.choice(user.passwords)
        return Secret(user.name, user.name, user.mechanism, password)


def _token_secret(user: User, token: GivenToken) -> Secret:
    mechanism = Mechanism.SCRAM_SHA_256
    return Secret(user.name, token.id, mechanism, token.password, is_token=True)
