"""`ottla profile`: clusters by name, kept in a file of the user; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, Yes, client_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Name clusters, with their addresses and client properties.",
    epilog="[bold]Exit codes[/]  0: done.  2: wrong usage, or no such profile.",
)


def _names(incomplete: str) -> list[str]:
    from ottla.cli.connection.cluster_options import profile_names

    return profile_names(incomplete)


Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, autocompletion=_names)]
Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap",
        "-b",
        metavar="HOST:PORT",
        help="Brokers of the cluster, separated by commas.",
        show_default=False,
    ),
]
CommandConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Copy the client properties in this file (Kafka's names), and its bootstrap.servers, "
        "into the profile.",
        show_default=False,
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option(
        "-X",
        metavar="NAME=VALUE",
        help="A property of the Kafka client; can be repeated.",
        show_default=False,
    ),
]


@app.command()
def create(
    name: Name,
    bootstrap: Bootstrap = None,
    command_config: CommandConfigFile = None,
    properties: Properties = None,
) -> None:
    """Create a profile and use it from now on.

    Give passwords in a file: other users of the host can read command lines.

    [bold]Examples[/]  ottla profile create staging --bootstrap kafka-1:9092 -X client.id=billing
    ottla profile create prod --command-config client.properties
    """
    with client_command() as terminal:
        from ottla.cli.profile.run import create_profile, given_properties

        create_profile(terminal, name, given_properties(bootstrap, command_config, properties))


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the profiles. The one in use has a star."""
    with client_command() as terminal:
        from ottla.cli.profile.run import list_profiles

        list_profiles(terminal, as_json=as_json)


@app.command()
def use(name: Name) -> None:
    """Select the profile that commands use where nothing else names a cluster."""
    with client_command() as terminal:
        from ottla.cli.profile.run import use_profile

        use_profile(terminal, name)


@app.command()
def show(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, autocompletion=_names)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a profile, or the one in use. Passwords and other secrets are hidden."""
    with client_command() as terminal:
        from ottla.cli.profile.run import show_profile

        show_profile(terminal, name, as_json=as_json)


@app.command("set")
def set_(
    name: Name,
    bootstrap: Bootstrap = None,
    command_config: CommandConfigFile = None,
    properties: Properties = None,
    removed: Annotated[
        list[str] | None,
        typer.Option(
            "--unset",
            metavar="NAME",
            help="Remove this property; can be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Change the addresses or the properties of a profile.

    [bold]Example[/]  ottla profile set staging -X client.id=orders --unset linger.ms
    """
    with client_command() as terminal:
        from ottla.cli.profile.run import change_profile, given_properties

        given = given_properties(bootstrap, command_config, properties)
        change_profile(terminal, name, given, removed or ())


@app.command()
def edit() -> None:
    """Open the file with all profiles in the editor ($VISUAL, $EDITOR or vi)."""
    with client_command() as terminal:
        from ottla.cli.profile.run import edit_profiles

        edit_profiles(terminal)


@app.command()
def delete(name: Name, yes: Yes = False) -> None:
    """Delete a profile."""
    with client_command() as terminal:
        from ottla.cli.connection.profiles import read_profiles
        from ottla.cli.display.confirmation import confirm
        from ottla.cli.profile.run import delete_profile

        read_profiles().profile(name)
        if not yes:
            confirm(f"Delete profile {name}?")
        delete_profile(terminal, name)
