"""How much a test of endurance does: little in `make test`, all of it with OTTLA_SOAK=1."""

from __future__ import annotations

import os

IS_SOAK = os.environ.get("OTTLA_SOAK") == "1"


def at_scale(*, quick: int, soak: int) -> int:
    return soak if IS_SOAK else quick
