"""`ottla tokens`: delegation tokens; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Create, list, renew and expire delegation tokens.",
    epilog=EXIT_CODES,
)

TokenId = Annotated[str, typer.Argument(metavar="TOKEN-ID", show_default=False)]


@app.command()
@cluster_command
def create(
    options: ClusterOptions,
    owner: Annotated[
        str | None,
        typer.Option(
            "--owner",
            metavar="User:NAME",
            help="Owner of the token. Default: the principal that creates it.",
            show_default=False,
        ),
    ] = None,
    renewers: Annotated[
        list[str] | None,
        typer.Option(
            "--renewer",
            metavar="User:NAME",
            help="Principal that may renew and expire it, besides the owner; can be repeated.",
            show_default=False,
        ),
    ] = None,
    max_lifetime: Annotated[
        str | None,
        typer.Option(
            "--max-lifetime",
            metavar="AGE",
            help="How long it can be renewed, such as 12h or 7d. Default: the cluster's "
            "delegation.token.max.lifetime.ms.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write client properties with the token into this new file, for "
            "--command-config, and do not print its HMAC.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token. Clients use its id and its HMAC as user name and password for SCRAM.

    [bold]Example[/]  ottla tokens create --max-lifetime 1d --out token.properties
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tokens.run import NewToken, create_token

        new = NewToken.of(owner, renewers or (), max_lifetime, out)
        with_admin(
            options,
            terminal,
            lambda admin: create_token(admin, terminal, new, options, as_json=as_json),
        )


@app.command("list")
@cluster_command
def list_(
    options: ClusterOptions,
    owners: Annotated[
        list[str] | None,
        typer.Option(
            "--owner",
            metavar="User:NAME",
            help="Only tokens of this owner or renewer; can be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the tokens that you may see, without their HMACs."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tokens.run import list_tokens

        with_admin(
            options,
            terminal,
            lambda admin: list_tokens(admin, terminal, owners or (), as_json=as_json),
        )


@app.command()
@cluster_command
def renew(
    options: ClusterOptions,
    token_id: TokenId,
    period: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="AGE",
            help="How long it is valid from now on, such as 12h. Default: the cluster's "
            "delegation.token.expiry.time.ms.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Renew a token, up to its maximum lifetime."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tokens.run import parse_period, renew_token

        period_s = parse_period(period, "--for")
        with_admin(
            options,
            terminal,
            lambda admin: renew_token(admin, terminal, token_id, period_s, as_json=as_json),
        )


@app.command()
@cluster_command
def expire(
    options: ClusterOptions,
    token_id: TokenId,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="AGE",
            help="Let it expire in this time, such as 10m. Default: delete it now.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Delete a token, or make it expire earlier."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tokens.run import expire_token, parse_period

        period_s = parse_period(after, "--after")
        with_admin(
            options,
            terminal,
            lambda admin: expire_token(admin, terminal, token_id, period_s, as_json=as_json),
        )
