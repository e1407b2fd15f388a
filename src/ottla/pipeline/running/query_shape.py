"""What of a query its checkpoint depends on: its sources, and the operators that keep state.

Both come from Spark's analyzed plan as text. Numbers of columns are left out, because they differ
from run to run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ottla.pipeline.running.graph import Query

_STATEFUL: Final = re.compile(
    r"^[\s:+|-]*(Aggregate|Distinct|Deduplicate\w*|Join|FlatMapGroups\w*|MapGroups\w*|"
    r"TransformWithState\w*|GlobalLimit)\b(.*)$"
)
_ID: Final = re.compile(r"#\d+L?|\bplan_id=\d+")
_FIELDS_MAX: Final = "spark.sql.debug.maxToStringFields"


def sources_of(query: Query) -> list[str]:
    """The streams, in the order of the module. Spark keeps their offsets by their order."""
    return [part.place for part in query.parts.values() if part.place and part.frame.isStreaming]


def state_of(query: Query) -> list[str]:
    """From the sink to the sources."""
    session: Any = query.frame.sparkSession
    before = session.conf.get(_FIELDS_MAX)
    # By default Spark shows the first 25 columns.
    session.conf.set(_FIELDS_MAX, "10000")
    try:
        plan = str(query.frame._jdf.queryExecution().analyzed().toString())  # noqa: SLF001
    finally:
        session.conf.set(_FIELDS_MAX, before)
    return [
        _ID.sub("", f"{found[1]}{found[2]}").strip()
        for line in plan.splitlines()
        if (found := _STATEFUL.match(line))
    ]
