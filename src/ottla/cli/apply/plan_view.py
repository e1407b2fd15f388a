"""How a plan looks, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from rich.text import Text

from ottla.cli.apply.changes import AwaitMoves, Change
from ottla.cli.apply.plan import ApplyPlan
from ottla.cli.apply.subjects import (
    Action,
    ChangedField,
    Subject,
    action_of,
    fields_of,
    subject_of,
)
from ottla.cli.display.terminal import Terminal

# The names of what is kept that are listed; the others are counted.
KEPT_LISTED_MAX: Final = 20
_SIGNS: Final = {Action.CREATE: "+", Action.CHANGE: "~", Action.DELETE: "-"}
_STYLES: Final = {Action.CREATE: "green", Action.CHANGE: "yellow", Action.DELETE: "red"}


class PlannedSubject(NamedTuple):
    """All that changes about one topic, user, ACL, ..."""

    subject: Subject
    action: Action
    fields: tuple[ChangedField, ...]


def planned_subjects(changes: Iterable[Change]) -> list[PlannedSubject]:
    """In the order of their first change."""
    by_subject: dict[Subject, list[Change]] = {}
    for change in changes:
        if not isinstance(change, AwaitMoves):
            by_subject.setdefault(subject_of(change), []).append(change)
    found = []
    for subject, some in by_subject.items():
        actions = {action_of(change) for change in some}
        action = actions.pop() if len(actions) == 1 else Action.CHANGE
        fields = tuple(field for change in some for field in fields_of(change))
        found.append(PlannedSubject(subject, action, fields))
    return found


def print_plan(terminal: Terminal, plan: ApplyPlan, *, as_json: bool) -> None:
    subjects = planned_subjects(plan.changes)
    if as_json:
        for planned in subjects:
            terminal.print_json(_json(planned))
        return
    for planned in subjects:
        _print(terminal, planned)
    if subjects:
        terminal.stdout.print(summary(subjects), markup=False)


def print_kept(terminal: Terminal, plan: ApplyPlan) -> None:
    """On standard error, for JSON as well."""
    if plan.kept:
        listed = ", ".join(plan.kept[:KEPT_LISTED_MAX])
        more = len(plan.kept) - KEPT_LISTED_MAX
        rest = f" and {more:,} more" if more > 0 else ""
        terminal.notice(f"Kept, though not in the file (--prune deletes it): {listed}{rest}.")
    if plan.moving:
        terminal.notice(
            f"Replicas are being moved already: {', '.join(plan.moving)}. "
            "`ottla reassign list` shows the progress."
        )


def summary(subjects: Iterable[PlannedSubject]) -> str:
    counts = Counter(planned.action for planned in subjects)
    parts = [f"{counts[action]:,} to {action}" for action in Action if counts[action]]
    return f"Plan: {', '.join(parts)}."


def deleted_topics(plan: ApplyPlan) -> int:
    return sum(
        planned.action is Action.DELETE and planned.subject.kind == "topic"
        for planned in planned_subjects(plan.changes)
    )


def _print(terminal: Terminal, planned: PlannedSubject) -> None:
    line = Text(f"{_SIGNS[planned.action]} {planned.subject}", style=_STYLES[planned.action])
    terminal.stdout.print(line, soft_wrap=True)
    for field in planned.fields:
        terminal.stdout.print(Text(f"    {_field_text(planned.action, field)}"), soft_wrap=True)


def _field_text(action: Action, field: ChangedField) -> str:
    note = f" ({field.note})" if field.note else ""
    if action is not Action.CHANGE:
        value = field.after if action is Action.CREATE else field.before
        return f"{field.name}: {_shown(value)}{note}"
    if field.before is None:
        return f"+ {field.name}: {_shown(field.after)}{note}"
    if field.after is None:
        return f"- {field.name}: {_shown(field.before)}{note}"
    return f"~ {field.name}: {_shown(field.before)} -> {_shown(field.after)}{note}"


def _shown(value: str | None) -> str:
    return value or '""'


def _json(planned: PlannedSubject) -> dict[str, Any]:
    return {
        "action": planned.action,
        "kind": planned.subject.kind,
        "name": planned.subject.name,
        "changes": [
            {"name": field.name, "before": field.before, "after": field.after}
            for field in planned.fields
        ],
    }
