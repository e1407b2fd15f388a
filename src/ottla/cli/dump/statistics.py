"""The statistics of a log, as tables."""

from __future__ import annotations

from itertools import islice
from typing import Final

from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ottla.cli.display import cells
from ottla.cli.dump import dump_cells
from ottla.dump.statistics import Amount, LogStatistics, SizeHistogram

BAR_CHARACTERS: Final = 20
PRODUCERS_SHOWN_MAX: Final = 10


def print_statistics(console: Console, path: str, statistics: LogStatistics) -> None:
    console.print(Text(path, style="bold"), soft_wrap=True)
    console.print(_summary(statistics))
    if not statistics.total.batches:
        return
    console.print()
    console.print(_amounts("codec", [(c.name.lower(), a) for c, a in statistics.codecs.items()]))
    console.print()
    histograms = [
        _histogram("bytes of a batch", statistics.batch_sizes),
        _histogram("bytes of a record", statistics.record_sizes),
    ]
    console.print(Columns(histograms, padding=(0, 4)))
    if statistics.producers:
        console.print()
        console.print(_producers(statistics))
    console.print()


def _summary(statistics: LogStatistics) -> Table:
    total, transactions = statistics.total, statistics.transactions
    offsets, timestamps = statistics.offsets, statistics.timestamps
    lines = {
        "offsets": dump_cells.span(offsets.first, offsets.last),
        "gaps": "none"
        if not offsets.gaps
        else f"{offsets.gaps:,}; {cells.count(offsets.missing, 'offset')} missing, largest gap "
        f"{offsets.largest_gap:,}",
        "time (UTC)": f"{cells.moment(timestamps.first)} to {cells.moment(timestamps.last)}",
        "batches": f"{total.batches:,}, {statistics.control.batches:,} of them control batches",
        "records": f"{total.records:,}, {statistics.control.records:,} of them control records",
        "keys": f"{statistics.records_with_key:,} with, {statistics.records_without_key:,} without",
        "tombstones": f"{statistics.tombstones:,}",
        "bytes": f"{total.bytes:,}, uncompressed {total.uncompressed_bytes:,} "
        f"({total.compression_ratio:.2f} x)",
        "producers": f"{len(statistics.producers):,}",
        "transactions": f"{transactions.committed:,} committed, {transactions.aborted:,} aborted, "
        f"{len(transactions.open_since):,} open; "
        + cells.count(transactions.batches, "batch", "batches"),
    }
    table = Table.grid(padding=(0, 2))
    for name, text in lines.items():
        table.add_row(Text(name, style="dim"), text)
    return table


def _amounts(title: str, amounts: list[tuple[str, Amount]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold dim")
    table.add_column(title)
    for name in ("batches", "records", "bytes", "uncompressed", "ratio"):
        table.add_column(name, justify="right")
    for name, amount in amounts:
        table.add_row(
            name,
            f"{amount.batches:,}",
            f"{amount.records:,}",
            f"{amount.bytes:,}",
            f"{amount.uncompressed_bytes:,}",
            f"{amount.compression_ratio:.2f}",
        )
    return table


def _producers(statistics: LogStatistics) -> Table:
    """The producers with the most records."""
    by_records = sorted(statistics.producers.items(), key=lambda item: -item[1].records)
    shown = [(str(producer_id), amount) for producer_id, amount in by_records]
    table = _amounts("producer", list(islice(shown, PRODUCERS_SHOWN_MAX)))
    if len(shown) > PRODUCERS_SHOWN_MAX:
        table.add_row(Text(f"… and {len(shown) - PRODUCERS_SHOWN_MAX:,} more", style="dim"))
    return table


def _histogram(title: str, histogram: SizeHistogram) -> Table:
    buckets = histogram.buckets()
    most = max((count for *_, count in buckets), default=1)
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold dim")
    table.add_column(title, justify="right")
    table.add_column("count", justify="right")
    table.add_column("")
    for smallest, largest, count in buckets:
        bar = "█" * -(-count * BAR_CHARACTERS // most)
        table.add_row(f"{smallest:,}-{largest:,}", f"{count:,}", Text(bar, style="cyan"))
    return table
