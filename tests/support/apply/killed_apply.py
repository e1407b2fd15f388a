"""`ottla apply` in a process of its own, which is killed by SIGKILL in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.nodes.nodes import OTTLA

# Salting this many passwords takes a second, so the kill comes before the end.
SLOW_USERS = 60


def slow_users(password_file: Path) -> str:
    """A section `users:` that takes a while, one user after the other."""
    user = f"password_file: {password_file}, mechanisms: {{SCRAM-SHA-512: {{iterations: 16384}}}}"
    return "users:\n" + "".join(f"  slow-{n:02}: {{{user}}}\n" for n in range(SLOW_USERS))


def kill_apply(
    arguments: Sequence[str], environment: Mapping[str, str], *, after_changes: int
) -> None:
    """Kills it when it has reported so many changes."""
    process = subprocess.Popen(
        [OTTLA, "apply", "--yes", *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            if line.startswith(f"[{after_changes}/"):
                break
        process.kill()
    assert process.wait() == -signal.SIGKILL
