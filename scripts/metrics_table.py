"""Writes the tables of all metrics into docs/operations.md: `make docs-metrics`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ottla.metrics import Family
from ottla.metrics.table import SECTIONS

DOCUMENT: Final = Path(__file__).resolve().parents[1] / "docs" / "operations.md"
# The tables stand between these lines.
_BEGIN: Final = "<!-- generated: make docs-metrics -->\n"
_END: Final = "<!-- end of generated -->\n"


def tables() -> str:
    return "\n".join(
        f"#### {title}\n\n"
        "| metric | kind | labels | meaning | in Apache Kafka |\n"
        "|---|---|---|---|---|\n" + "".join(map(_row, families))
        for title, families in SECTIONS.items()
    )


def with_tables(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    assert begin
    assert end
    return f"{before}{begin}\n{tables()}\n{end}{after}"


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels)
    kafka = ", ".join(f"`{_escaped(each)}`" for each in family.kafka.split("; ") if each)
    cells = (f"`{family.name}`", family.kind.value, labels, _escaped(family.help), kafka)
    return "| " + " | ".join(cells) + " |\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text()))
