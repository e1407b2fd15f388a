"""What a replica cannot go on after."""

from __future__ import annotations


class CommittedRecordsLostError(Exception):
    """A leader lacks what was committed. Going on would lose it here, too: the node has to stop."""
