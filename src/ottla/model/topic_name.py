"""Which names a topic can have, and which topics are Kafka's own."""

from __future__ import annotations

import re
from typing import Final

INTERNAL_TOPICS: Final = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state"}
)

_LENGTH_MAX: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]*")


def is_internal_topic(name: str) -> bool:
    """Whether only the cluster itself writes to the topic."""
    return name in INTERNAL_TOPICS


def topic_name_refusal(name: str) -> str | None:
    """Why no topic can be called this, or None."""
    reason = None
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > _LENGTH_MAX:
        reason = f"'{name}' has {len(name)} characters and may have {_LENGTH_MAX}"
    elif not _LEGAL.fullmatch(name):
        reason = (
            f"'{name}' has characters other than ASCII letters and digits, '.', '_' and '-'"
        )
    return None if reason is None else f"Topic name is invalid: {reason}"
