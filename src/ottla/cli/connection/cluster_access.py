"""The cluster that a command connects to, and the client properties.

The command line overrides the environment, which overrides the profile, which overrides the
default. The current profile (`ottla profile use`) applies only if nothing else names a cluster:
otherwise its passwords would be sent to another cluster's addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.connection.bootstrap_addresses import parse_addresses
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, read_profiles
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.network import Address

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
PLAINTEXT: Final = "plaintext"
SECURITY_PROTOCOL: Final = "security.protocol"
# Properties that the commands set themselves, with the option that sets them, if there is one.
_OWN: Final[Mapping[str, str | None]] = {
    "auto.offset.reset": "--from",
    "bootstrap.servers": "--bootstrap",
    "enable.auto.commit": None,
    "enable.auto.offset.store": None,
    "enable.partition.eof": None,
    "group.id": "--group",
    "metadata.broker.list": "--bootstrap",
}
# The endings of the properties of librdkafka that are paths, and a value of theirs that is none.
_PATHS: Final = (".location", ".keytab", ".file")
_PROBE: Final = "probe"
_SECURITY: Final = ("security.", "sasl.", "ssl.", "enable.sasl.", "enable.ssl.", "https.")


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The effective addresses and client properties. `explicit` are the properties of -X."""

    bootstrap: str = DEFAULT_BOOTSTRAP
    properties: Mapping[str, str] = field(default_factory=dict)
    explicit: frozenset[str] = frozenset()

    @property
    def addresses(self) -> tuple[Address, ...]:
        return parse_addresses(self.bootstrap)

    @property
    def is_plaintext(self) -> bool:
        return self.properties.get(SECURITY_PROTOCOL, PLAINTEXT).lower() == PLAINTEXT

    def require_files(self) -> None:
        """Called before the Kafka client is created, which reports a missing file only once a
        broker answers, and in the words of its TLS library."""
        for name, value in self.properties.items():
            if name.endswith(_PATHS) and value not in ("", _PROBE) and not Path(value).exists():
                where = "-X" if name in self.explicit else "the profile"
                raise CommandError(
                    f"{value} does not exist; correct the path of {name} in {where}.",
                    exit_code=ExitCode.USAGE,
                )

    def require_plaintext(self) -> None:
        """Called by commands with a protocol client of their own, without TLS, SASL and properties.

        Other properties of a profile tune the ordinary client and are ignored here.
        """
        for name in self.properties:
            is_of_security = name.startswith(_SECURITY)
            if name == SECURITY_PROTOCOL and self.is_plaintext:
                continue
            if is_of_security or name in self.explicit:
                raise CommandError(
                    f"This command does not support the client property {name}: it speaks Kafka's "
                    "protocol itself"
                    + (", without TLS and SASL so far." if is_of_security else "."),
                    "Use a plaintext listener." if is_of_security else f"Leave out -X {name}.",
                    exit_code=ExitCode.USAGE,
                )


def resolve(options: ClusterOptions) -> ClusterAccess:
    """Raises CommandError."""
    profile = _profile(options)
    explicit = dict(parse_name_values(options.properties, what="-X"))
    properties = {**profile.properties, **explicit}
    for name in properties:
        _require_free(name, where="-X" if name in explicit else f"profile {profile.name}")
    return ClusterAccess(_bootstrap(options, profile), properties, frozenset(explicit))


def require_usable(names: Mapping[str, str]) -> None:
    """Checks properties before they are stored: rejects those that `resolve` would reject."""
    for name in names:
        _require_free(name, where="a profile")


def _profile(options: ClusterOptions) -> Profile:
    """The profile to use; an empty one if there is none."""
    if options.profile is not None:
        return read_profiles().profile(options.profile)
    if options.bootstrap is not None:
        return Profile("")
    profiles = read_profiles()
    return Profile("") if profiles.current is None else profiles.profile(profiles.current)


def _bootstrap(options: ClusterOptions, profile: Profile) -> str:
    """A profile given on the command line overrides addresses in the environment."""
    if options.has_own_profile and not options.has_own_bootstrap and profile.bootstrap is not None:
        return profile.bootstrap
    return options.bootstrap or profile.bootstrap or DEFAULT_BOOTSTRAP


def _require_free(name: str, *, where: str) -> None:
    if name in _OWN or name.endswith("_cb"):
        option = _OWN.get(name)
        raise CommandError(
            f"{where} cannot set {name}: the commands set it themselves.",
            *([] if option is None else [f"Use {option} instead."]),
            exit_code=ExitCode.USAGE,
        )
