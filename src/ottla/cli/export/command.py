"""`ottla export`: its options and help."""

from __future__ import annotations

from ottla.cli.connection.client_command import client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command


@cluster_command
def export(options: ClusterOptions) -> None:
    """Write topics, configs, users, ACLs and quotas as a file for [cyan]ottla apply[/].

    Only what was set: no defaults, no internal topics, and no passwords.

    [bold]Example[/]  ottla export > cluster.yaml

    [bold]Exit codes[/]  0: done.  1: the cluster refused.  2: wrong usage.  3: cannot connect.
    """
    with client_command() as terminal:
        from ottla.cli.export.run import run_export

        run_export(options, terminal)
