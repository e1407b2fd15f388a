"""`ottla trace`: one message from send to commit and back, step by step."""

from __future__ import annotations

from typing import Annotated

import typer

_HELP = """Follow one message from send to commit, and on to a consumer: every step, every I/O.

Starts a node of its own in a temporary directory, sends it a message and fetches it back. The times
are those of a traced run, which is several times slower than an untraced one.

\b
    ottla trace
    ottla trace --sync --size 1000
"""


def trace(
    size: Annotated[int, typer.Option(min=0, max=1_000_000, help="Bytes in the message.")] = 100,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            help="Set flush.messages=1: sync the message to the device before the response.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per step.")] = False,
) -> None:
    from ottla.cli.trace.run import run_trace

    run_trace(size=size, sync=sync, as_json=json)


trace.__doc__ = _HELP
