"""Runs `ottla apply`: reads the cluster, shows the plan, asks, carries it out, looks again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ottla.cli.apply.changes import DeleteCredential
from ottla.cli.apply.execution import ChangeResult, Executor
from ottla.cli.apply.input_files import read_desired
from ottla.cli.apply.plan import ApplyPlan, make_plan
from ottla.cli.apply.plan_view import deleted_topics, print_kept, print_plan
from ottla.cli.apply.progress_report import ProgressReport
from ottla.cli.apply.secrets_of_files import Secrets, read_secrets
from ottla.cli.cluster_file.desired import DesiredState, ManagedKind
from ottla.cli.cluster_file.mistakes import Mistake, Place
from ottla.cli.cluster_state.reading import WantedState, read_state
from ottla.cli.connection.admin_connection import with_admin
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.display.cells import count
from ottla.cli.display.confirmation import confirm
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.runtime.clock import Clock
from ottla.runtime.system_clock import SystemClock

# A node may show a change a moment after the controller has made it.
SHOWN_SECONDS_MAX: Final = 10.0
_POLL_SECONDS: Final = 0.1
# The place of changes that no line of a file asks for.
_OF_PRUNING: Final = Place("--prune")
# The client property with the user, by librdkafka's name.
_USERNAME: Final = "sasl.username"


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    files: Sequence[str]
    is_pruning: bool = False
    is_checking: bool = False
    is_confirmed: bool = False
    as_json: bool = False


def run_apply(cluster: ClusterOptions, terminal: Terminal, options: ApplyOptions) -> ExitCode:
    desired, mistakes = read_desired(options.files)
    if mistakes:
        return complain(terminal, mistakes, "Nothing was changed.", ExitCode.USAGE)
    plan = with_admin(cluster, terminal, lambda admin: plan_of(admin, desired, options))
    if plan.mistakes:
        return complain(terminal, plan.mistakes, "Nothing was changed.", ExitCode.REFUSED)
    print_plan(terminal, plan, as_json=options.as_json)
    print_kept(terminal, plan)
    if plan.is_empty:
        if not options.as_json:
            terminal.stdout.print("Nothing differs.")
        return ExitCode.OK
    if options.is_checking:
        return ExitCode.DIFFERENT
    require_own_user_kept(plan, resolve(cluster).security.properties.get(_USERNAME))
    secrets, mistakes = read_secrets(plan.changes)
    if mistakes:
        return complain(terminal, mistakes, "Nothing was changed.", ExitCode.USAGE)
    mistakes = with_admin(cluster, terminal, lambda admin: refused(admin, plan, secrets))
    if mistakes:
        return complain(terminal, mistakes, "Nothing was changed.", ExitCode.REFUSED)
    if not options.is_confirmed:
        confirm(question(plan))
    return with_admin(
        cluster,
        terminal,
        lambda admin: carry_out(admin, terminal, desired, plan, secrets, options),
    )


def require_own_user_kept(plan: ApplyPlan, own_user: str | None) -> None:
    """The next run could not log in. `own_user` is None without SASL."""
    deleted = {change.user for change in plan.changes if isinstance(change, DeleteCredential)}
    if own_user in deleted:
        raise CommandError(
            f"The plan deletes credentials of {own_user}, the user of this command.",
            "Add the user with its mechanisms to the file, or log in as another one.",
        )


async def plan_of(admin: Admin, desired: DesiredState, options: ApplyOptions) -> ApplyPlan:
    present = await read_state(admin, wanted_state(desired))
    return make_plan(desired, present, is_pruning=options.is_pruning)


def wanted_state(desired: DesiredState) -> WantedState:
    """What has to be read to compare it with these files: no more rights are needed than for
    that."""
    managed = desired.manages
    return WantedState(
        topics=frozenset(desired.topics),
        brokers=None if ManagedKind.BROKERS in managed else frozenset(desired.brokers),
        groups=None if ManagedKind.GROUPS in managed else frozenset(desired.groups),
        cluster=desired.cluster_place is not None,
        users=bool(desired.users) or ManagedKind.USERS in managed,
        acls=bool(desired.acls) or ManagedKind.ACLS in managed,
        quotas=bool(desired.quotas) or ManagedKind.QUOTAS in managed,
        client_metrics=None
        if ManagedKind.CLIENT_METRICS in managed
        else frozenset(desired.client_metrics),
    )


async def refused(admin: Admin, plan: ApplyPlan, secrets: Secrets) -> list[Mistake]:
    """What the cluster would refuse, as far as it can check that without changing anything."""
    executor = Executor(admin, secrets, SystemClock(), on_wait=lambda _moving: None)
    return [
        Mistake(outcome.change.place or _OF_PRUNING, outcome.error.message)
        for outcome in await executor.validate(plan.changes)
        if outcome.error is not None
    ]


async def carry_out(
    admin: Admin,
    terminal: Terminal,
    desired: DesiredState,
    plan: ApplyPlan,
    secrets: Secrets,
    options: ApplyOptions,
) -> ExitCode:
    progress = ProgressReport(terminal, plan.changes, as_json=options.as_json)
    executor = Executor(admin, secrets, SystemClock(), progress.wait)
    errors = await _errors(executor, plan, progress)
    if errors:
        for error in errors:
            terminal.complain(error)
        terminal.notice(f"{progress.summary} Correct the cause and run the command again.")
        return max(error.exit_code for error in errors)
    rest = await _remaining(admin, desired, options, SystemClock())
    if not rest.is_empty or rest.mistakes:
        raise CommandError(
            "All changes were made, but the cluster differs from the file.",
            "Does another client change it, too? `ottla apply --check` shows the differences.",
        )
    if not options.as_json:
        terminal.stdout.print(progress.summary, markup=False)
    return ExitCode.OK


async def _errors(
    executor: Executor, plan: ApplyPlan, progress: ProgressReport
) -> list[CommandError]:
    """Executes the plan. Returns why it is not done to its end; empty if it is."""
    errors: list[CommandError] = []

    def report(result: ChangeResult) -> None:
        progress.report(result)
        if result.error is not None:
            errors.append(result.error)

    try:
        await executor.execute(plan.changes, report)
    except CommandError as lost:
        errors.append(lost)
    return errors


def question(plan: ApplyPlan) -> str:
    topics = deleted_topics(plan)
    loss = f" It deletes {count(topics, 'topic')} with all records." if topics else ""
    return f"Apply this plan?{loss}"


def complain(
    terminal: Terminal, mistakes: Iterable[Mistake], hint: str, exit_code: ExitCode
) -> ExitCode:
    lines = "\n".join(map(str, mistakes))
    terminal.complain(CommandError(lines, hint, exit_code=exit_code))
    return exit_code


async def _remaining(
    admin: Admin, desired: DesiredState, options: ApplyOptions, clock: Clock
) -> ApplyPlan:
    """The plan for what is left: an empty one, as soon as this node shows all changes."""
    deadline = clock.monotonic() + SHOWN_SECONDS_MAX
    while True:
        plan = await plan_of(admin, desired, options)
        if (plan.is_empty and not plan.mistakes) or clock.monotonic() > deadline:
            return plan
        await clock.sleep(_POLL_SECONDS)
