"""What a chapter of a document takes for granted: shell commands that run before it.

Documents name them in marks, `<!-- given: a node, orders -->`, where showing them to readers every
time would be in their way. A line that begins with `& ` stays in the foreground of a terminal.
"""

from __future__ import annotations

GIVENS = {
    "nothing": "",
    "a node": "& ottla start --data-dir ./data",
    "a cluster": "ottla cluster up --nodes 3 --detach",
    # The cluster's end; its processes are not children of any terminal.
    "orders": """\
ottla topics create orders --partitions 3
seq -f 'key%g:order %g' 30 | ottla produce orders --format key-value
""",
    "flights": """\
ottla topics create flights delays copies --partitions 2
echo '{"origin": "JFK", "delay": 20, "scheduled": "2013-01-01T10:00:00Z"}' | ottla produce flights
""",
}
