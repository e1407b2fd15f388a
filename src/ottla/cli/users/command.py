"""`ottla users`: users that authenticate with SCRAM; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="List users with SCRAM credentials, set their passwords, delete them.",
    epilog=EXIT_CODES,
)

User = Annotated[str, typer.Argument(metavar="USER", show_default=False)]
Mechanisms = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanism",
        "-m",
        metavar="SCRAM-SHA-256|SCRAM-SHA-512",
        help="Mechanism of the credential; can be repeated.",
        show_default=False,
    ),
]


@app.command("list")
@cluster_command
def list_(
    options: ClusterOptions,
    users: Annotated[
        list[str] | None, typer.Argument(metavar="[USER...]", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the users that have SCRAM credentials, or those that are named."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.users.run import list_users

        with_admin(
            options,
            terminal,
            lambda admin: list_users(admin, terminal, users or (), as_json=as_json),
        )


@app.command("set-password")
@cluster_command
def set_password(
    options: ClusterOptions,
    user: User,
    mechanisms: Mechanisms = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            metavar="N",
            help="Iterations, from 4096 to 16384. More of them make it slower to guess a password "
            "from a stolen credential. Default: 8192.",
            show_default=False,
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help="File with the password as its only line; - is standard input. Without it, the "
            "command asks for the password.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set the password of a user, or create a user. The default mechanism is SCRAM-SHA-512.

    [bold]Example[/]  ottla users set-password billing
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.users.run import NewPassword, set_password

        new = NewPassword.of(user, mechanisms, iterations, password_file)
        with_admin(
            options, terminal, lambda admin: set_password(admin, terminal, new, as_json=as_json)
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    user: User,
    mechanisms: Mechanisms = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete the credentials of a user: of all mechanisms, or of those named.

    Connections that are open stay open. The user's ACLs stay, too.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.display.confirmation import confirm
        from ottla.cli.users.run import delete_user, parse_mechanisms

        chosen = parse_mechanisms(mechanisms or ())
        if not yes:
            confirm(f"Delete the credentials of {user}?")
        with_admin(
            options,
            terminal,
            lambda admin: delete_user(admin, terminal, user, chosen, as_json=as_json),
        )
