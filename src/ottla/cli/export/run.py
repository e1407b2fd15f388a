"""Runs `ottla export`."""

from __future__ import annotations

from ottla.cli.cluster_state.reading import EVERYTHING, read_state
from ottla.cli.connection.admin_connection import with_admin
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.display.terminal import Terminal
from ottla.cli.export.document import cluster_document


def run_export(options: ClusterOptions, terminal: Terminal) -> None:
    state = with_admin(options, terminal, lambda admin: read_state(admin, EVERYTHING))
    terminal.stdout.file.write(cluster_document(state))
    if state.acls is None:
        terminal.notice("The cluster has no authorizer, and so no ACLs.")
