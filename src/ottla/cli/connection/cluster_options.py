"""The options of commands that connect to a cluster: `--bootstrap`, `--profile`,
`--command-config` and `-X`.

Such a command is decorated with `cluster_command` and receives the options as `ClusterOptions`;
`cluster_access.resolve` turns them into addresses and properties. This module has no slow imports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

import typer

_PANEL: Final = "Cluster"
_FROM_COMMAND_LINE: Final = "COMMANDLINE"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options that name the cluster, from the command line and the environment."""

    bootstrap: str | None = None
    profile: str | None = None
    properties: tuple[str, ...] = ()
    # Whether they come from the command line and not from the environment.
    has_own_bootstrap: bool = True
    has_own_profile: bool = True
    command_config: Path | None = None

    @property
    def names_cluster(self) -> bool:
        return not (self.bootstrap is None and self.profile is None and self.command_config is None)


def profile_names(incomplete: str) -> list[str]:
    """Shell completion of profile names; empty if the file cannot be read."""
    from ottla.cli.connection.profiles import read_profiles
    from ottla.cli.exit_codes import CommandError

    try:
        return [name for name in read_profiles().by_name if name.startswith(incomplete)]
    except CommandError:
        return []


Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap",
        "--bootstrap-server",
        "-b",
        metavar="HOST:PORT",
        envvar="OTTLA_BOOTSTRAP",
        help="Brokers of the cluster, separated by commas. Default: those of the profile, or "
        "127.0.0.1:9092.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        envvar="OTTLA_PROFILE",
        help="The profile to use ([cyan]ottla profile[/]).",
        show_default=False,
        autocompletion=profile_names,
        rich_help_panel=_PANEL,
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option(
        "-X",
        metavar="NAME=VALUE",
        help="A property of the Kafka client, such as [cyan]security.protocol=SSL[/]; can be "
        "repeated.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
CommandConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="A file with client properties by Kafka's names, such as "
        "[cyan]security.protocol[/] and [cyan]sasl.jaas.config[/].",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
_OPTIONS: Final[dict[str, Any]] = {
    "bootstrap": Bootstrap,
    "profile": ProfileName,
    "command_config": CommandConfigFile,
    "properties": Properties,
}


def cluster_command(function: Callable[..., None]) -> Callable[..., None]:
    """Replaces the parameter `options: ClusterOptions` by the options above."""
    own = inspect.signature(function, eval_str=True).parameters

    @wraps(function)
    def command(context: typer.Context, **arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in _OPTIONS}
        function(options=_options(context, **given), **arguments)

    annotations = {
        "context": typer.Context,
        **{name: each.annotation for name, each in own.items() if name != "options"},
        **_OPTIONS,
    }
    defaults = {name: each.default for name, each in own.items()} | dict.fromkeys(_OPTIONS)
    command.__annotations__ = annotations | {"return": None}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, inspect.Parameter.empty),
                annotation=annotation,
            )
            for name, annotation in annotations.items()
        ]
    )
    return command


def _options(
    context: typer.Context,
    *,
    bootstrap: str | None,
    profile: str | None,
    command_config: Path | None,
    properties: list[str] | None,
) -> ClusterOptions:
    def is_own(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == _FROM_COMMAND_LINE

    return ClusterOptions(
        # An empty environment variable counts as unset.
        bootstrap or None,
        profile or None,
        tuple(properties or ()),
        has_own_bootstrap=is_own("bootstrap"),
        has_own_profile=is_own("profile"),
        command_config=command_config,
    )
