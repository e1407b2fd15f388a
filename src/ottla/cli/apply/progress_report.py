"""Reports the changes of a plan, one by one, as they are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ottla.cli.apply.changes import AwaitMoves, Change, MoveReplicas, SetCredential
from ottla.cli.apply.execution import ChangeResult
from ottla.cli.apply.subjects import Action, action_of, fields_of, subject_of
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal

_DONE: Final = {Action.CREATE: "created", Action.CHANGE: "changed", Action.DELETE: "deleted"}


class ProgressReport:
    """Counts changes and prints them. Waits are no changes."""

    def __init__(self, terminal: Terminal, changes: Iterable[Change], *, as_json: bool) -> None:
        self._terminal = terminal
        self._as_json = as_json
        self._total = sum(not isinstance(change, AwaitMoves) for change in changes)
        self._done = 0
        self._moving = 0

    @property
    def summary(self) -> str:
        if self._done == self._total:
            return f"Applied {count(self._total, 'change')}."
        return f"{self._done:,} of {count(self._total, 'change')} were made."

    def report(self, outcome: ChangeResult) -> None:
        change, error = outcome
        if isinstance(change, AwaitMoves):
            return
        self._done += error is None
        if self._as_json:
            reason = {} if error is None else {"reason": error.message}
            self._terminal.print_json(_json(change, is_done=error is None) | reason)
        elif error is None:
            line = f"[{self._done:,}/{self._total:,}] {_text(change)}"
            self._terminal.stdout.print(line, markup=False, soft_wrap=True)

    def wait(self, moving: int) -> None:
        """Prints a notice when the number of partitions that are being moved has changed."""
        if moving and moving != self._moving:
            text = f"Waiting until the replicas of {count(moving, 'partition')} are moved."
            self._terminal.notice(text)
        self._moving = moving


def _text(change: Change) -> str:
    subject = subject_of(change)
    if isinstance(change, MoveReplicas):
        return f"began to move replicas of {subject}"
    action = action_of(change)
    names = [field.name for field in fields_of(change)]
    is_whole = action is not Action.CHANGE and not isinstance(change, SetCredential)
    detail = "" if is_whole else f": {', '.join(names)}"
    return f"{_DONE[action]} {subject}{detail}"


def _json(change: Change, *, is_done: bool) -> dict[str, Any]:
    subject = subject_of(change)
    return {
        "outcome": "done" if is_done else "refused",
        "action": action_of(change),
        "kind": subject.kind,
        "name": subject.name,
        "changes": [field.name for field in fields_of(change)],
    }
