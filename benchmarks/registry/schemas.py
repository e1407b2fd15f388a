"""The schemas that a registry is loaded with."""

from __future__ import annotations

import json


def schema_text(number: int) -> str:
    """An Avro record of ten fields, one for each number."""
    fields = [{"name": f"field_{index}", "type": ["null", "string"]} for index in range(10)]
    return json.dumps({"type": "record", "name": f"R{number}", "fields": fields})
