"""`ottla profile` at work."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.connection.bootstrap_addresses import parse_addresses
from ottla.cli.connection.cluster_access import require_usable
from ottla.cli.connection.profiles import (
    Profile,
    Profiles,
    profiles_file,
    read_profiles,
    write_profiles,
)
from ottla.cli.display.cells import NOTHING
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode

_PATH: Final = ".location"
_NAME: Final = re.compile(r"[\w.-]+")


class GivenProperties(NamedTuple):
    """Of the command line, and of the file that it names."""

    bootstrap: str | None
    properties: Mapping[str, str]


def given_properties(
    bootstrap: str | None, command_config: Path | None, properties: Iterable[str] | None
) -> GivenProperties:
    """The command line goes before the file. Raises CommandError."""
    explicit = dict(parse_name_values(properties or (), what="-X"))
    if command_config is None:
        return GivenProperties(bootstrap, explicit)
    config = read_command_config(command_config)
    # A profile is used in any directory.
    of_file = {
        name: str(Path(value).absolute()) if value and name.endswith(_PATH) else value
        for name, value in config.properties.items()
    }
    return GivenProperties(bootstrap or config.bootstrap, {**of_file, **explicit})


def create_profile(terminal: Terminal, name: str, given: GivenProperties) -> None:
    profiles = read_profiles()
    if name in profiles.by_name:
        raise _usage(f"Profile {name} exists already.", f"Change it with: ottla profile set {name}")
    if not _NAME.fullmatch(name):
        raise _usage(f"{name!r} is not a name for a profile: use letters, digits, '.', '_', '-'.")
    profiles.by_name[name] = _changed(Profile(name), given, removed=())
    profiles.current = name
    write_profiles(profiles)
    terminal.stdout.print(f"created profile {name}; it is in use now", markup=False)


def list_profiles(terminal: Terminal, *, as_json: bool) -> None:
    profiles = read_profiles()
    if as_json:
        for profile in profiles.by_name.values():
            terminal.print_json(_json(profiles, profile))
    elif profiles.by_name:
        table = new_table("", "profile", "bootstrap", "properties")
        for profile in profiles.by_name.values():
            star = "*" if profile.name == profiles.current else ""
            properties = " ".join(_texts(profile)) or NOTHING
            table.add_row(star, profile.name, profile.bootstrap or NOTHING, properties)
        terminal.stdout.print(table)
    else:
        terminal.notice("There are no profiles. Create one with: ottla profile create NAME")


def use_profile(terminal: Terminal, name: str) -> None:
    profiles = read_profiles()
    profiles.current = profiles.profile(name).name
    write_profiles(profiles)
    terminal.stdout.print(f"profile {name} is in use now", markup=False)


def show_profile(terminal: Terminal, name: str | None, *, as_json: bool) -> None:
    profiles = read_profiles()
    chosen = name or profiles.current
    if chosen is None:
        raise _usage("No profile is in use.", "Choose one with: ottla profile use NAME")
    profile = profiles.profile(chosen)
    if as_json:
        terminal.print_json(_json(profiles, profile))
        return
    lines = [f"profile {profile.name}{', in use' if profile.name == profiles.current else ''}"]
    if profile.bootstrap is not None:
        lines.append(f"bootstrap {profile.bootstrap}")
    for line in (*lines, *_texts(profile)):
        terminal.stdout.print(line, markup=False, soft_wrap=True)


def change_profile(
    terminal: Terminal,
    name: str,
    given: GivenProperties,
    removed: Iterable[str],
) -> None:
    profiles = read_profiles()
    profile = profiles.profile(name)
    profiles.by_name[name] = _changed(profile, given, removed)
    write_profiles(profiles)
    terminal.stdout.print(f"changed profile {name}", markup=False)


def delete_profile(terminal: Terminal, name: str) -> None:
    profiles = read_profiles()
    del profiles.by_name[profiles.profile(name).name]
    if profiles.current == name:
        profiles.current = None
    write_profiles(profiles)
    terminal.stdout.print(f"deleted profile {name}", markup=False)


def edit_profiles(terminal: Terminal) -> None:
    """Leaves the file as the editor left it, and says what is wrong with it."""
    if not profiles_file().exists():
        write_profiles(Profiles())
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), str(profiles_file())], check=False)  # noqa: S603
    except FileNotFoundError:
        raise _usage(
            f"The editor {editor} is not installed; set EDITOR to the name of one that is."
        ) from None
    except OSError as error:
        raise _usage(f"Cannot start the editor {editor}: {error.strerror}.") from None
    if ended.returncode:
        raise _usage(f"The editor {editor} ended with exit code {ended.returncode}.")
    profiles = read_profiles()
    for profile in profiles.by_name.values():
        _check(profile)
    if profiles.current is not None:
        profiles.profile(profiles.current)
    terminal.stdout.print(f"edited {profiles_file()}", markup=False, soft_wrap=True)


def _changed(profile: Profile, given: GivenProperties, removed: Iterable[str]) -> Profile:
    kept = dict(profile.properties)
    for name in removed:
        if name not in kept:
            raise _usage(f"Profile {profile.name} has no property {name}.")
        del kept[name]
    kept |= given.properties
    changed = Profile(profile.name, given.bootstrap or profile.bootstrap, kept)
    _check(changed)
    return changed


def _check(profile: Profile) -> None:
    """Raises CommandError for what no command could use."""
    if profile.bootstrap is not None:
        parse_addresses(profile.bootstrap)
    require_usable(profile.properties)


def _texts(profile: Profile) -> list[str]:
    return [f"{name}={value}" for name, value in profile.shown_properties.items()]


def _json(profiles: Profiles, profile: Profile) -> dict[str, Any]:
    return {
        "profile": profile.name,
        "is_current": profile.name == profiles.current,
        "bootstrap": profile.bootstrap,
        "properties": profile.shown_properties,
    }


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
