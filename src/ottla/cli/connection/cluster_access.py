"""The cluster that a command connects to, and the client properties.

The command line overrides the environment, which overrides the profile, which overrides the
default. The current profile (`ottla profile use`) applies only if nothing else names a cluster:
otherwise its passwords would be sent to another cluster's addresses. For the same reason a file
named with --command-config replaces all security properties of the profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.client_security.command_config import CommandConfig, read_command_config
from ottla.cli.client_security.refused_properties import refused_properties
from ottla.cli.connection.bootstrap_addresses import parse_addresses
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, read_profiles
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client_security.client_security import ClientSecurity, parse_client_security
from ottla.client_security.property_names import check_names, is_of_security
from ottla.runtime.network import Address

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
PLAINTEXT: Final = "PLAINTEXT"
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
# The endings of the properties that are paths, and a value of librdkafka's that is none.
_PATHS: Final = (".location", ".keytab", ".file")
_PROBE: Final = "probe"


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The effective addresses and client properties. `explicit` are the properties of -X."""

    bootstrap: str = DEFAULT_BOOTSTRAP
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    explicit: frozenset[str] = frozenset()

    @property
    def addresses(self) -> tuple[Address, ...]:
        return parse_addresses(self.bootstrap)

    @property
    def security(self) -> ClientSecurity:
        """Raises CommandError for properties that contradict each other."""
        with refused_properties():
            return parse_client_security(self.properties)

    @property
    def is_plaintext(self) -> bool:
        return self.security.protocol == PLAINTEXT

    @property
    def security_properties(self) -> dict[str, str]:
        """The properties of TLS and SASL as they were given, with absolute paths: a pipeline's
        tasks run in other directories."""
        return {
            name: str(Path(value).absolute()) if name.endswith(".location") and value else value
            for name, value in self.properties.items()
            if is_of_security(name)
        }

    def require_files(self) -> None:
        """Called before a client is created, which knows nothing of where a path comes from."""
        for name, value in self.properties.items():
            if name.endswith(_PATHS) and value not in ("", _PROBE) and not Path(value).exists():
                where = "-X" if name in self.explicit else "--command-config or the profile"
                raise CommandError(
                    f"{value} does not exist; correct the path of {name} in {where}.",
                    exit_code=ExitCode.USAGE,
                )


def resolve(options: ClusterOptions) -> ClusterAccess:
    """Raises CommandError."""
    config = CommandConfig(None, {})
    if options.command_config is not None:
        config = read_command_config(options.command_config)
    profile = _profile(options, config)
    explicit = dict(parse_name_values(options.properties, what="-X"))
    of_profile = {
        name: value
        for name, value in profile.properties.items()
        if options.command_config is None or not is_of_security(name)
    }
    for properties, where in (
        (of_profile, f"profile {profile.name}"),
        (config.properties, str(options.command_config)),
        (explicit, "-X"),
    ):
        for name in properties:
            _require_free(name, where=where)
    access = ClusterAccess(
        _bootstrap(options, config, profile),
        {**of_profile, **config.properties, **explicit},
        frozenset(explicit),
    )
    # Mistakes are reported before anything connects.
    _ = access.security
    return access


def require_usable(properties: Mapping[str, str]) -> None:
    """Checks properties before they are stored: rejects names that `resolve` would reject."""
    for name in properties:
        _require_free(name, where="a profile")
    with refused_properties():
        check_names(properties)


def _profile(options: ClusterOptions, config: CommandConfig) -> Profile:
    """The profile to use; an empty one if there is none."""
    if options.profile is not None:
        return read_profiles().profile(options.profile)
    if options.bootstrap is not None or config.bootstrap is not None:
        return Profile("")
    profiles = read_profiles()
    return Profile("") if profiles.current is None else profiles.profile(profiles.current)


def _bootstrap(options: ClusterOptions, config: CommandConfig, profile: Profile) -> str:
    """A file or a profile given on the command line overrides addresses in the environment."""
    if options.bootstrap is not None and options.has_own_bootstrap:
        return options.bootstrap
    if config.bootstrap is not None:
        return config.bootstrap
    if options.has_own_profile and profile.bootstrap is not None:
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
