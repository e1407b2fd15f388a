"""The documentation of the metrics is made from their table."""

from __future__ import annotations

from ottla.metrics.table import NODE_FAMILIES, PIPELINE_FAMILIES
from scripts.metrics_table import DOCUMENT, with_tables


def test_the_documented_metrics_are_those_of_the_table() -> None:
    text = DOCUMENT.read_text()
    assert with_tables(text) == text, "run: make docs-metrics"
    for family in (*NODE_FAMILIES, *PIPELINE_FAMILIES):
        assert text.count(f"\n| `{family.name}` |") == 1
