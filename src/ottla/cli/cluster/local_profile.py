"""The profile of a secured cluster on this host, so that commands find it and its credentials."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Final

from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.connection.profiles import Profile, Profiles, read_profiles, write_profiles
from ottla.cli.display.terminal import Terminal

_TRUSTED: Final = "ssl.truststore.location"
_NOT_IN_A_NAME: Final = re.compile(r"[^\w.-]+")


def use_local_profile(terminal: Terminal, layout: ClusterLayout) -> None:
    """Creates the cluster's profile, or makes it that of the cluster again, and uses it."""
    config = read_command_config(layout.client_properties_file)
    profiles = read_profiles()
    name = _profile_name(profiles, layout.directory, config.properties[_TRUSTED])
    profile = Profile(name, config.bootstrap, config.properties)
    if profiles.current != name or profiles.by_name.get(name) != profile:
        profiles.by_name[name] = profile
        profiles.current = name
        write_profiles(profiles)
    terminal.stdout.print(
        f"Profile {name} is in use now; it connects as the user admin. For other programs: "
        f"--command-config {layout.client_properties_file}",
        markup=False,
        soft_wrap=True,
    )


def _profile_name(profiles: Profiles, directory: Path, trusted: str) -> str:
    """That of an earlier cluster in the directory, or one that no other cluster has."""
    for profile in profiles.by_name.values():
        if profile.properties.get(_TRUSTED) == trusted:
            return profile.name
    plain = _NOT_IN_A_NAME.sub("-", directory.name) or "cluster"
    names = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(name for name in names if name not in profiles.by_name)
