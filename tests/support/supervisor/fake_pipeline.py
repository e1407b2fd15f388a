"""`ottla pipelines check` and `run` for tests of supervisors, without Spark.

    python fake_pipeline.py run FILE --name NAME --checkpoints DIR ...

The definition's first line, after `# `, is JSON: `shape` is what `check` prints, `fails` with how
often `run` fails at its start, and `ignores_stop` makes it deaf to signals. A run appends to
`DIR/../events` when it starts and ends. It holds the lock of its checkpoints as a real one does; a
second run at the same time is written down as `overlap`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from time import sleep

from ottla.cli.pipelines.lease import SupervisedLease
from ottla.cli.pipelines.stop_signals import StopSignals
from ottla.pipeline.running.checkpoint_lock import CheckpointInUseError, CheckpointLock


def main(arguments: list[str]) -> int:
    word, file = arguments[0], Path(arguments[1])
    options = dict(pairwise(arguments))
    definition = json.loads(file.read_text().splitlines()[0].removeprefix("# "))
    if word == "check":
        for query in definition.get("shape", [{"query": "q", "sink": "topic q", "mode": "append"}]):
            print(json.dumps(query))
        return 1 if any("mistake" in each for each in definition.get("shape", ())) else 0
    return run(definition, options["--name"], Path(options["--checkpoints"]))


def run(definition: dict[str, int], name: str, checkpoints: Path) -> int:
    events = checkpoints.parent / "events"
    checkpoints.mkdir(parents=True, exist_ok=True)
    with StopSignals() as signals:
        SupervisedLease(signals).start()
        signals.defer()
        if definition.get("ignores_stop"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            lock = CheckpointLock.take(checkpoints, name)
        except CheckpointInUseError:
            note(events, "overlap")
            return 1
        note(events, "start")
        count = events.read_text().count("start")
        if count <= definition.get("fails", 0):
            print(json.dumps({"failure": f"failure number {count}"}), flush=True)
            note(events, "end")
            return 1
        batch = 0
        while not signals.is_stopping or definition.get("ignores_stop"):
            batch += 1
            print(json.dumps({"query": "q", "batch_id": batch, "rows": 10, "lag": 5}), flush=True)
            print(f"batch {batch}", file=sys.stderr, flush=True)
            sleep(0.1)
        note(events, "end")
        lock.release()
    return 0


def note(events: Path, what: str) -> None:
    with events.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
