"""The defaults of `ottla cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DEFAULT_NODES: Final = 3
DEFAULT_LISTEN: Final = "127.0.0.1:9092"
DEFAULT_DIR: Final = Path("cluster")
