"""The metrics of all workers of a host as one text, each sample with the label `worker`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_END: Final = "# EOF"


def combine_texts(texts: Mapping[int, str]) -> str:
    """Takes one text for each worker number, all in the same format, OpenMetrics or Prometheus.

    A family's samples must follow each other, so those of all workers are brought together.
    """
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    has_end = False
    for number, text in texts.items():
        family = ""
        is_first = True
        for line in text.splitlines():
            if line == _END:
                has_end = True
            elif line.startswith("# "):
                name = line.split(" ", 3)[2]
                if name != family:
                    family, is_first = name, name not in heads
                    heads.setdefault(name, [])
                if is_first:
                    heads[name].append(line)
            elif line:
                samples.setdefault(family, []).append(_labelled(line, number))
    lines = [line for name, head in heads.items() for line in (*head, *samples.get(name, ()))]
    return "\n".join([*lines, *([_END] if has_end else [])]) + "\n"


def _labelled(sample: str, number: int) -> str:
    name, brace, rest = sample.partition("{")
    # Without labels, the first brace can only belong to an exemplar's.
    if brace and " " not in name:
        separator = "" if rest.startswith("}") else ","
        return f'{name}{{worker="{number}"{separator}{rest}'
    name, _, rest = sample.partition(" ")
    return f'{name}{{worker="{number}"}} {rest}'
