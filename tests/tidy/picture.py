"""The picture of the packages in docs/design.md: `python -m tests.tidy.picture` draws it anew."""

from __future__ import annotations

from typing import Final

from tests.tidy.source import ROOT, stair

DESIGN: Final = ROOT / "docs" / "design.md"
PACKAGES: Final = ("ottla", "ottla.broker", "ottla.storage", "ottla.simulation")
# The drawing stands between this sentence and this heading.
_BEGIN: Final = "the diagrams show the real imports.\n"
_END: Final = "## File map\n"


def drawing() -> str:
    """Each package as a stair: every step imports only from steps below it."""
    blocks = []
    for package in PACKAGES:
        steps = [[each for each in step if each != "__main__"] for step in stair(package)]
        lines = [
            f"{'  ' * depth}{' | '.join(step)}" for depth, step in enumerate(filter(None, steps))
        ]
        blocks.append(f"`{package}`:\n\n```text\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(blocks)


def with_drawing(text: str) -> str:
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{drawing()}\n{_END}{after}"


if __name__ == "__main__":
    DESIGN.write_text(with_drawing(DESIGN.read_text()))
