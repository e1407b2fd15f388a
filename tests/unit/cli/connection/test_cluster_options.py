"""The options that every command shares, as a command gets them."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.testing import CliRunner

from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.main import make_app

_given: list[ClusterOptions] = []
app = typer.Typer()


@app.command()
@cluster_command
def shown(
    options: ClusterOptions,
    topic: Annotated[str, typer.Argument()],
    amount: Annotated[int, typer.Option("--amount")] = 3,
) -> None:
    """The help."""
    typer.echo(f"{topic} {amount}")
    _given.append(options)


def given(*arguments: str, **environment: str) -> ClusterOptions:
    result = CliRunner(env=environment).invoke(app, ["orders", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.stdout == "orders 3\n"
    return _given.pop()


def test_without_options_nothing_names_a_cluster() -> None:
    options = given()
    assert not options.names_cluster
    assert options.properties == ()


def test_options_of_the_command_line_are_its_own() -> None:
    options = given("-b", "kafka:9092", "--profile", "prod", "-X", "a=1", "-X", "b=2")
    assert options == ClusterOptions("kafka:9092", "prod", ("a=1", "b=2"))


def test_options_of_the_environment_are_known_as_such() -> None:
    options = given(OTTLA_BOOTSTRAP="kafka:9092", OTTLA_PROFILE="prod")
    assert (options.bootstrap, options.profile) == ("kafka:9092", "prod")
    assert not options.has_own_bootstrap
    assert not options.has_own_profile


def test_the_command_line_goes_before_the_environment() -> None:
    options = given("-b", "other:9092", OTTLA_BOOTSTRAP="kafka:9092")
    assert options.bootstrap == "other:9092"
    assert options.has_own_bootstrap


def test_an_empty_variable_names_no_cluster() -> None:
    assert not given(OTTLA_BOOTSTRAP="", OTTLA_PROFILE="").names_cluster


def test_every_command_that_talks_to_a_cluster_has_the_options() -> None:
    commands = [
        *(
            ("topics", each)
            for each in ("create", "list", "describe", "delete", "delete-records", "grow")
        ),
        *(("groups", each) for each in ("list", "describe", "reset", "delete")),
        *(("configs", each) for each in ("describe", "set", "delete")),
        *(("transactions", each) for each in ("list", "describe", "find-hanging", "abort")),
        *(("quorum", each) for each in ("status", "add", "remove")),
        *(("reassign", each) for each in ("generate", "execute", "verify", "cancel", "list")),
        *(("pipelines", each) for each in ("check", "run")),
        *(("log-dirs", each) for each in ("describe", "move")),
        *((each,) for each in ("produce", "consume", "offsets", "elect", "bench")),
        ("cluster", "status"),
    ]
    for command in commands:
        result = CliRunner(env={"COLUMNS": "200"}).invoke(
            make_app(command[0]), [*command, "--help"], catch_exceptions=False
        )
        for option in ("--bootstrap", "--profile", "-X"):
            assert option in result.stdout, command
