"""`ottla dump`: its options and their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

_WHAT = "What to show"
_WHICH = "Which part of it"
_HOW = "How to show it"


class As(StrEnum):
    """The formats of internal topics; `ottla.dump` has the same names."""

    AUTO = "auto"
    METADATA = "metadata"
    OFFSETS = "offsets"
    TRANSACTIONS = "transactions"
    SHARES = "shares"
    REMOTE = "remote"


def dump(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files, partition directories such as [cyan]orders-0[/], or log directories.",
            show_default=False,
        ),
    ],
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Show records, not only batches: keys, values, headers.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Verify the files: checksums, ascending offsets, whole records, and each index "
            "against the log beside it.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    stats: Annotated[
        bool,
        typer.Option(
            "--stats",
            help="Show statistics instead; the segments of a directory count as one log.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    from_offset: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="The first offset to show.", rich_help_panel=_WHICH),
    ] = 0,
    to_offset: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="The last offset to show.",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="At most this many batches (records with --deep) or entries of each file.",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    as_: Annotated[
        As,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="Format of an internal topic's records: [cyan]metadata[/], [cyan]offsets[/], "
            "[cyan]transactions[/], [cyan]shares[/] or [cyan]remote[/]; [cyan]auto[/] uses "
            "the name of the directory.",
            rich_help_panel=_HOW,
        ),
    ] = As.AUTO,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="One JSON object per line. Bytes that are printable UTF-8 are shown as text, "
            "others as base64 with a field [cyan]key_encoding[/] beside [cyan]key[/].",
            rich_help_panel=_HOW,
        ),
    ] = False,
) -> None:
    """Show what is in the files of a log, Ottla's or Apache Kafka's.

    Files are recognized by their names: logs (.log) and their indexes (.index, .timeindex,
    .txnindex), producer snapshots (.snapshot), metadata snapshots (.checkpoint),
    leader-epoch-checkpoint, partition.metadata, quorum-state; of a log directory meta.properties,
    .kafka_cleanshutdown and the checkpoints of offsets. A directory is shown file by file, in the
    order of the log. No file is changed.

    [bold]Examples[/]

      ottla dump orders-0                           every file of a partition
      ottla dump --deep --from-offset 1000 --limit 20 orders-0/00000000000000000000.log
      ottla dump --deep --json __consumer_offsets-7 | jq 'select(.type == "record")'
      ottla dump --verify /var/lib/ottla            check all files
      ottla dump --stats orders-0                   sizes, codecs, producers, gaps

    [bold]Exit codes[/]  0: no file is corrupt.  1: a file is corrupt; its intact part was shown.
    2: a file is missing, unreadable or of unknown type.
    """
    from ottla.cli.dump.run import Mode, run_dump
    from ottla.dump.reading import Reading
    from ottla.dump.selection import Selection
    from ottla.dump.stored_records import StoredRecordFormat

    if verify and stats:
        raise typer.BadParameter("--verify and --stats cannot be combined: choose one")
    selection = Selection(from_offset) if to_offset is None else Selection(from_offset, to_offset)
    record_format = None if as_ is As.AUTO else StoredRecordFormat(as_.value)
    reading = Reading(selection, deep=deep, record_format=record_format, limit=limit)
    mode = Mode.VERIFY if verify else Mode.STATISTICS if stats else Mode.CONTENT
    raise typer.Exit(run_dump(paths, reading, mode, as_json=as_json))
