"""The commands for a supervisor: what they ask, and how its answers look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rich.text import Text

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import ExitCode
from ottla.cli.pipelines.supervisor_client import SupervisorClient, path_of

_NEW: str = "?checkpoint=new"
_DONE = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "restart": "restarted",
}


class NewVersion(NamedTuple):
    name: str
    file: str
    settings: Sequence[str]
    is_check: bool
    has_new_checkpoint: bool


def deploy(client: SupervisorClient, terminal: Terminal, new: NewVersion) -> ExitCode:
    config = {"file": new.file, **dict(parse_name_values(new.settings, what="--set"))}
    if new.is_check:
        with terminal.stderr.status("Checking ..."):
            found = client.ask("PUT", path_of(new.name, "/config/validate"), config)
        return _show_verdict(terminal, new, found)
    query = _NEW if new.has_new_checkpoint else ""
    with terminal.stderr.status("Checking and deploying ..."):
        found = client.ask("PUT", path_of(new.name, f"/config{query}"), config)
    terminal.stdout.print(f"deployed {new.name}, version {found['version']}")
    return ExitCode.OK


def _show_verdict(terminal: Terminal, new: NewVersion, found: Mapping[str, Any]) -> ExitCode:
    checkpoint = found["checkpoint"]
    for error in found["errors"]:
        terminal.stdout.print(Text(f"✗ {error}", style="red"), soft_wrap=True)
    for reason in checkpoint["reasons"]:
        terminal.stdout.print(Text(f"✗ {reason}", style="red"), soft_wrap=True)
    for note in checkpoint["notes"]:
        terminal.stdout.print(f"- {note}", soft_wrap=True)
    if found["errors"]:
        return ExitCode.REFUSED
    if not checkpoint["can_be_kept"]:
        terminal.stdout.print(
            f"{new.file} can be deployed with a new checkpoint only: --new-checkpoint"
        )
        return ExitCode.REFUSED
    terminal.stdout.print(f"{new.file} can be deployed and keeps its checkpoint")
    return ExitCode.OK


def show_list(client: SupervisorClient, terminal: Terminal, *, as_json: bool) -> None:
    found = client.ask("GET", "/connectors?expand=status&expand=info")
    if as_json:
        for name, each in found.items():
            terminal.print_json({"name": name, **each["status"], "config": each["info"]["config"]})
        return
    table = new_table(
        "pipeline", "state", "version", "definition", "supervisor", right=("version",)
    )
    for name, each in found.items():
        status = each["status"]
        table.add_row(
            name,
            status["connector"]["state"].lower(),
            str(status["version"]),
            each["info"]["config"]["file"],
            status["connector"]["worker_id"] or "-",
        )
    terminal.stdout.print(table)


def show_status(client: SupervisorClient, terminal: Terminal, name: str, *, as_json: bool) -> None:
    found = client.ask("GET", path_of(name, "/status"))
    if as_json:
        terminal.print_json(found)
        return
    state = found["connector"]["state"].lower()
    terminal.stdout.print(
        f"{name}: {state}, version {found['version']}, run {found['epoch']} on "
        f"{found['connector']['worker_id'] or 'no supervisor'}, "
        f"{found['failures']} failures in a row",
        soft_wrap=True,
    )
    for task in found["tasks"]:
        if task.get("trace"):
            terminal.stdout.print(Text(task["trace"], style="red"), soft_wrap=True)
    if not found["queries"]:
        return
    table = new_table("query", "batch", "rows", "lag", right=("batch", "rows", "lag"))
    for query, each in found["queries"].items():
        lag = "-" if each.get("lag") is None else f"{each['lag']:,}"
        table.add_row(query, str(each.get("batch_id", "-")), f"{each['rows_total']:,}", lag)
    terminal.stdout.print(table)


def show_history(client: SupervisorClient, terminal: Terminal, name: str, *, as_json: bool) -> None:
    events = client.ask("GET", path_of(name, "/history"))
    if as_json:
        for each in events:
            terminal.print_json(each)
        return
    table = new_table("time", "event", "detail")
    for each in events:
        moment = datetime.fromtimestamp(each["at_ms"] / 1_000, UTC)
        table.add_row(f"{moment:%Y-%m-%d %H:%M:%S}", each["event"], each["detail"])
    terminal.stdout.print(table)


def show_logs(client: SupervisorClient, terminal: Terminal, name: str, lines: int) -> None:
    terminal.stdout.print(
        client.ask("GET", path_of(name, f"/logs?lines={lines}")), end="", soft_wrap=True
    )


def order(client: SupervisorClient, terminal: Terminal, name: str, what: str) -> None:
    client.ask("POST" if what == "restart" else "PUT", path_of(name, f"/{what}"))
    terminal.stdout.print(f"{_DONE[what]} {name}")


def remove(client: SupervisorClient, terminal: Terminal, name: str) -> None:
    client.ask("DELETE", path_of(name))
    terminal.stdout.print(f"removed {name}; its checkpoints are kept")
