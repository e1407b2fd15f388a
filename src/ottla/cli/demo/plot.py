"""The plot, as plain SVG: the mean departure delay per week, with one line for each airport."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from ottla.cli.demo.proof import PunctualityGroup, Totals

_WIDTH, _HEIGHT = 960, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 70, 50, 40
_FIRST_DAY: Final = date(2013, 1, 1)
_WEEKS: Final = 52
_STEP: Final = 10
_COLORS: Final = ("#2563eb", "#dc2626", "#059669", "#7c3aed", "#d97706")
_TEXT: Final = 'font-family="sans-serif" font-size="13" fill="#374151"'


def weekly_delays(totals: Mapping[PunctualityGroup, Totals]) -> dict[str, dict[int, float]]:
    """Minutes by airport and week of the year. The year's last days belong to its last week."""
    sums: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for group, (flights, delay) in totals.items():
        week = min((date.fromisoformat(group.day) - _FIRST_DAY).days // 7, _WEEKS - 1)
        both = sums[group.origin][week]
        both[0] += flights
        both[1] += delay
    return {
        origin: {week: delay / flights for week, (flights, delay) in sorted(weeks.items())}
        for origin, weeks in sorted(sums.items())
    }


def draw(title: str, lines: Mapping[str, Mapping[int, float]]) -> str:
    """The SVG of weekly minutes. The scale includes 0."""
    values = [value for line in lines.values() for value in line.values()]
    top = _STEP * (int(max(values) // _STEP) + 1)
    bottom = _STEP * int(min(0.0, *values) // _STEP)

    def x(week: float) -> float:
        return _LEFT + week / (_WEEKS - 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (top - value) / (top - bottom) * (_HEIGHT - _TOP - _BOTTOM)

    def parts() -> Iterator[str]:
        yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
        yield f'<text x="{_LEFT}" y="26" {_TEXT} font-weight="bold">{title}</text>'
        for value in range(bottom, top + 1, _STEP):
            yield (
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value):.1f}" '
                f'y2="{y(value):.1f}" stroke="#e5e7eb"/>'
            )
            yield f'<text x="{_LEFT - 10}" y="{y(value) + 4:.1f}" {_TEXT} text-anchor="end">'
            yield f"{value} min</text>"
        for month in range(1, 13):
            first = _FIRST_DAY.replace(month=month)
            place = x((first - _FIRST_DAY).days / 7)
            yield f'<text x="{place:.1f}" y="{_HEIGHT - 14}" {_TEXT}>{first:%b}</text>'
        for color, (name, line) in zip(_COLORS, lines.items(), strict=False):
            points = " ".join(f"{x(week):.1f},{y(value):.1f}" for week, value in line.items())
            yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'
            last = max(line)
            yield (
                f'<text x="{x(last) + 8:.1f}" y="{y(line[last]) + 4:.1f}" {_TEXT} '
                f'style="fill:{color}">{name}</text>'
            )

    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(parts()) + "\n</svg>\n"
