"""Part two: a pipeline processes a year of flights; a node and then the pipeline are killed. In the
end the topic and the table must agree with a plain count.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.cluster.nodes import send_signal
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.demo.failover import bring_back
from ottla.cli.demo.flights import EXAMPLES, load_flights, stream_in
from ottla.cli.demo.load import leaders
from ottla.cli.demo.pipeline_process import PipelineProcess
from ottla.cli.demo.plot import draw, weekly_delays
from ottla.cli.demo.proof import check_each_once, plain_counts, streamed_counts, table_rows
from ottla.cli.display.terminal import Terminal
from ottla.cli.pipelines.choice import PipelineChoice
from ottla.cli.pipelines.spark import prepare_spark
from ottla.runtime.system_clock import SystemClock, sleep_blocking

DEFINITION: Final = EXAMPLES / "punctuality.py"
QUERIES: Final = ("punctuality", "table")
TABLE: Final = "flown.delta"
PLOT: Final = "delays.svg"
# Fractions of the work of all queries.
NODE_KILLED_AT: Final = 0.15
PIPELINE_KILLED_AT: Final = 0.4
# Waits until a batch is running: the next one begins as soon as one ends.
_INTO_A_BATCH_S: Final = 0.7
_STALLED_S: Final = 120.0
_POLL_S: Final = 0.1
_MAKERS_SHOWN: Final = 6


def show_punctuality(console: Console, silent: Terminal, layout: ClusterLayout, home: Path) -> None:
    """Writes the table and the plot to `home`. Raises CommandError if Spark cannot run."""
    choice = PipelineChoice.parse(
        DEFINITION, options=ClusterOptions(layout.bootstrap), master="", configs=None
    )
    prepare_spark(console, choice.java)
    with console.status("Reading a year of flights ..."):
        flights, planes = load_flights()
    rate = stream_in(console, layout.bootstrap, flights, planes)
    console.print(
        f"[bold]7.[/] {len(flights):,} flights of 2013 are sent to a topic, {rate:,.0f} per "
        f"second; {len(planes):,} planes to a compacted one."
    )
    _run(console, silent, layout, home, total=len(flights))
    with console.status("Counting ..."):
        counts, words = streamed_counts(layout.bootstrap)
        assert counts == plain_counts(flights, planes), "the topic disagrees with a plain count"
        table = table_rows(home / TABLE)
        check_each_once(table, flights, planes)
    console.print(
        f"[bold]12.[/] A plain count agrees: {words:,} updates in the topic (read_committed) "
        f"result in {len(counts):,} counts of "
        f"[bold]{sum(each.flights for each in counts.values()):,}[/] flights; the Delta table has "
        f"[bold]{len(table):,}[/] rows. Each flight was counted [bold]exactly once[/].\n"
    )
    lines = weekly_delays(counts)
    (home / PLOT).write_text(draw("How late planes left New York in 2013, by week", lines))
    console.print(_makers(table))


def _run(
    console: Console, silent: Terminal, layout: ClusterLayout, home: Path, *, total: int
) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    pipeline = PipelineProcess(DEFINITION, layout.bootstrap, home)
    watched = _Watched(console, pipeline, total)
    try:
        pipeline.start(once=False)
        with watched:
            watched.wait(lambda: watched.part > 0)
            console.print(
                "[bold]8.[/] A pipeline joins them, counts in windows, and writes to a topic and a "
                f"Delta table: first batches after {clock.monotonic() - started:.1f} s."
            )
            watched.wait(lambda: watched.part >= NODE_KILLED_AT)
            victim = leaders(layout.bootstrap, "punctuality")[0]
            send_signal(layout, layout.node(victim), signal.SIGKILL)
            console.print(
                f"[bold]9.[/] Node {victim}, which leads a partition of its topic, is killed "
                f"(SIGKILL) {watched.where}. The pipeline continues."
            )
            watched.wait(lambda: watched.part >= PIPELINE_KILLED_AT)
            sleep_blocking(_INTO_A_BATCH_S)
            pipeline.kill()
            console.print(
                f"[bold]10.[/] The pipeline is killed (SIGKILL), in the middle of a batch, "
                f"{watched.where}."
            )
            seconds = bring_back(silent, layout, victim)
            pipeline.start(once=True)
            watched.wait(lambda: pipeline.has_ended)
        console.print(
            f"[bold]11.[/] Node {victim} is restarted (in sync after {seconds:.1f} s). The "
            "pipeline resumes where it stopped and is done after "
            f"{clock.monotonic() - started:.1f} s in total."
        )
    finally:
        pipeline.kill()


class _Watched:
    """Shows a pipeline's progress, one bar for each query, while it waits for a condition."""

    def __init__(self, console: Console, pipeline: PipelineProcess, total: int) -> None:
        self._pipeline = pipeline
        self._total = total
        self._progress = Progress(console=console, transient=True)
        self._tasks = {name: self._progress.add_task(name, total=total) for name in QUERIES}
        self._rows: dict[str, int] = {}

    def __enter__(self) -> None:
        self._progress.start()

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def part(self) -> float:
        return sum(self._rows.values()) / (len(QUERIES) * self._total)

    @property
    def where(self) -> str:
        return f"at {self.part:.0%}"

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Waits until `is_so()`. Raises CommandError if the pipeline stops before."""
        clock = SystemClock()
        moved_at = clock.monotonic()
        while not is_so():
            sleep_blocking(_POLL_S)
            rows = self._pipeline.rows()
            if rows != self._rows:
                moved_at = clock.monotonic()
                self._rows = rows
            for name, task in self._tasks.items():
                self._progress.update(task, completed=rows.get(name, 0))
            ended = self._pipeline.has_ended
            assert ended is False or is_so(), "the pipeline was done before it was killed"
            assert clock.monotonic() - moved_at < _STALLED_S, "the pipeline makes no progress"


def _makers(rows: object) -> Table:
    import pyarrow as pa

    assert isinstance(rows, pa.Table)
    sums = rows.group_by("manufacturer").aggregate([("delay", "mean"), ("delay", "count")])
    shown = sums.sort_by([("delay_count", "descending")]).slice(0, _MAKERS_SHOWN).to_pylist()
    table = Table(box=None, padding=(0, 2), title="From the Delta table")
    for title in ("manufacturer", "flights", "minutes late"):
        table.add_column(title, justify="left" if title == "manufacturer" else "right")
    for each in shown:
        table.add_row(
            each["manufacturer"].title(), f"{each['delay_count']:,}", f"{each['delay_mean']:.1f}"
        )
    return table
