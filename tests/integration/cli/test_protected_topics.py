"""Commands that delete several topics refuse protected ones before they begin."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from ottla.cli.exit_codes import ExitCode
from ottla.cli.main import make_app
from ottla.testing import Cluster

PROTECTED = ("--config", "ottla.delete.protection=true")


def ottla(cluster: Cluster, *arguments: str, stdin: str = "") -> Result:
    command = [*arguments, "--bootstrap", cluster.bootstrap]
    return CliRunner().invoke(make_app(arguments[0]), command, input=stdin)


def topics(cluster: Cluster) -> list[str]:
    shown = ottla(cluster, "topics", "list").stdout
    return [line.split()[0] for line in shown.splitlines()[1:]]


def test_protected_topics_stay_and_so_do_the_others() -> None:
    with Cluster() as cluster:
        assert ottla(cluster, "tenants", "create", "acme").exit_code == 0
        names = ["acme.a", "acme.b"]
        for name, options in zip(names, ((), PROTECTED), strict=True):
            assert ottla(cluster, "topics", "create", name, *options).exit_code == 0

        refused = ottla(cluster, "topics", "delete", "acme.b", "--yes")
        assert refused.exit_code == ExitCode.REFUSED
        assert "set its config ottla.delete.protection to false first" in refused.stderr

        refused = ottla(cluster, "tenants", "delete", "acme", "--with-topics", "--yes")
        assert refused.exit_code == ExitCode.REFUSED
        assert "Topic acme.b is protected from deletion." in refused.stderr
        assert topics(cluster) == names

        pruning = ("apply", "-f", "-", "--prune", "--yes")
        refused = ottla(cluster, *pruning, stdin='manages: {topics: ["acme.*"]}')
        assert refused.exit_code == ExitCode.REFUSED
        assert "Topic acme.b is protected from deletion." in refused.stderr
        assert topics(cluster) == names

        unprotected = ("configs", "set", "ottla.delete.protection=false", "--topic", "acme.b")
        assert ottla(cluster, *unprotected).exit_code == 0
        assert ottla(cluster, "tenants", "delete", "acme", "--with-topics", "--yes").exit_code == 0
        assert topics(cluster) == []
