"""How a node logs: lines of text for people, or of JSON for programs (`ottla.log.format`)."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

from ottla.configs import NodeConfig
from ottla.runtime.log_limit import LogLimit
from ottla.runtime.log_text import LogFormatter

_TEXT: Final = "%(asctime)s %(levelname)-7s %(message)s"


class JsonLines(logging.Formatter):
    """One object for each line. Its time is UTC."""

    def __init__(self, *, node_id: int) -> None:
        super().__init__()
        self._node_id = node_id

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "node": self._node_id,
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


def log_to_stderr(log_limit: LogLimit, config: NodeConfig, *, verbose: bool) -> None:
    handler = logging.StreamHandler()
    handler.addFilter(log_limit)
    is_json = config.log_format == "json"
    handler.setFormatter(JsonLines(node_id=config.node_id) if is_json else LogFormatter(_TEXT))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, handlers=[handler])
