"""`ottla[pipeline]`: a pipeline writes a record to a topic, and another one reads it."""

import os
import tempfile
from pathlib import Path

from node import ottla

from ottla.testing import Cluster

PIPELINE = """
from ottla.pipeline import Files, Text, Topic, sink, source


@source(Files({lines!r}, "text", schema="value string"))
def lines(rows):
    return rows


@sink(Topic("orders", Text()))
def orders(lines):
    return lines.selectExpr("value AS text")


@source(Topic("orders", Text()))
def written(rows):
    return rows


@sink(Files({copies!r}, "text"))
def copies(written):
    return written.select("text")
"""

with tempfile.TemporaryDirectory() as directory, Cluster() as cluster:
    cluster.create_topic("orders")
    place = Path(directory)
    # What a first run keeps for the next ones is of no use here.
    os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
    (place / "lines").mkdir()
    (place / "lines" / "one.txt").write_text("an apple\n")
    file = place / "copies.py"
    file.write_text(PIPELINE.format(lines=f"{place}/lines", copies=f"{place}/copies"))
    # The first run writes to the topic, and the second one finds it there.
    for _ in range(2):
        ottla("pipelines", "run", str(file), "--once", "--bootstrap", cluster.bootstrap)
    written = [each.read_text() for each in (place / "copies").glob("*.txt")]
    assert "an apple\n" in written, written
