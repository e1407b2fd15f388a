"""`ottla apply`: its options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command


@cluster_command
def apply(
    options: ClusterOptions,
    files: Annotated[
        list[str],
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="What the cluster shall have, as YAML; - is standard input. Several files are "
            "one together.",
            show_default=False,
        ),
    ],
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only show what differs; exit code 1 if anything does. Changes nothing."
        ),
    ] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Also delete what is not in the files: configs and mechanisms of what they name, "
            "and what [cyan]manages[/] in them names.",
        ),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Change topics, configs, users, ACLs and quotas to match a file.

    Shows what it would change, asks, and changes only that. Interrupted, run it again.

    [bold]Examples[/]  ottla export > cluster.yaml
    ottla apply -f cluster.yaml

    [bold]Exit codes[/]  0: done, or nothing differs.  1: the cluster refused, or --check found a
    difference.  2: wrong usage, or a mistake in a file.  3: cannot connect.
    """
    with client_command() as terminal:
        from ottla.cli.apply.run import ApplyOptions, run_apply

        wanted = ApplyOptions(
            files, is_pruning=prune, is_checking=check, is_confirmed=yes, as_json=as_json
        )
        raise typer.Exit(run_apply(options, terminal, wanted))
