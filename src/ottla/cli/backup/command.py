"""`ottla backup`: its options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

_To = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="DIR",
        help="The directory of the backup. An earlier backup of the same cluster in it is "
        "continued.",
        show_default=False,
    ),
]
_Verify = Annotated[
    Path | None,
    typer.Option(
        "--verify",
        metavar="DIR",
        help="Verify the checksums of a backup instead; needs no cluster.",
        show_default=False,
    ),
]
_ControllerConfig = Annotated[
    Path | None,
    typer.Option(
        "--controller-config",
        metavar="FILE",
        help="Client properties for the controllers' listener, if it needs others than the "
        "brokers' listener.",
        show_default=False,
    ),
]
_Bandwidth = Annotated[
    float | None,
    typer.Option(
        "--bandwidth",
        min=0.001,
        metavar="MB/S",
        help="At most so many megabytes per second.",
        show_default=False,
    ),
]


@cluster_command
def backup(
    options: ClusterOptions,
    to: _To = None,
    verify: _Verify = None,
    controller_config: _ControllerConfig = None,
    bandwidth: _Bandwidth = None,
) -> None:
    """Copy the whole cluster into a directory while it serves.

    Topics, groups with their offsets, transactions, users, ACLs, tokens, configs and features. The
    copy is consistent: it has each transaction as a whole or not at all, and no group is past the
    records that it contains. [cyan]ottla restore[/] makes the nodes of a new cluster from it.

    The command reads the metadata from the controllers, so their listener must be reachable. With
    an authorizer, the user needs ClusterAction and Describe on the cluster, and Read and
    DescribeConfigs on all topics.

    [bold]Examples[/]

      ottla backup --to /backups/monday
      ottla backup --to /backups/monday --bandwidth 50
      ottla backup --verify /backups/monday

    [bold]Exit codes[/]  0: done.  1: refused or damaged.  2: wrong usage.  3: cannot connect.
    """
    if (to is None) == (verify is None):
        raise typer.BadParameter("give either --to or --verify")
    with client_command() as terminal:
        from ottla.cli.backup.run import run_backup, verify_backup
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.connection.client_properties import cluster_settings_of
        from ottla.cli.connection.cluster_access import resolve

        if verify is not None:
            verify_backup(terminal, str(verify))
            return
        directory = str(to)
        brokers = controllers = cluster_settings_of(resolve(options))
        if controller_config is not None:
            other = ClusterOptions(command_config=controller_config)
            controllers = cluster_settings_of(resolve(other))
        with_admin(
            options,
            terminal,
            lambda admin: run_backup(
                admin,
                terminal,
                directory,
                brokers=brokers,
                controllers=controllers,
                megabytes_per_second=bandwidth,
            ),
        )
