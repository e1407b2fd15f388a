"""The table of all metrics: names and texts that Prometheus and its readers expect."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from ottla.metrics import Distribution, Family, MetricKind, Metrics, TextFormat, render
from ottla.metrics.table import NODE_FAMILIES, PIPELINE_FAMILIES
from tests.support.promtool import check_openmetrics_text, check_prometheus_text

FAMILIES = (*NODE_FAMILIES, *PIPELINE_FAMILIES)


def example(family: Family) -> float | Distribution:
    if family.kind is MetricKind.HISTOGRAM:
        return Distribution(range(len(family.bounds) + 1), 1.5)
    return 1


def one_of_each() -> Metrics:
    metrics = Metrics()
    for family in FAMILIES:
        sample = (tuple(f"some {label}" for label in family.labels), example(family))
        metrics.measure(family, partial(list, [sample]))
    return metrics


def test_names_are_unique_also_without_the_suffixes_of_samples() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    assert len({family.base_name for family in FAMILIES}) == len(FAMILIES)


def test_names_and_labels_are_lower_case_words() -> None:
    for family in FAMILIES:
        assert re.fullmatch(r"(ottla|process|python)(_[a-z]+)+", family.name), family.name
        assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", label) for label in family.labels)
        assert not {"le", "quantile", "instance", "job", "worker"} & set(family.labels)


def test_help_texts_are_sentences() -> None:
    for family in FAMILIES:
        assert re.match(r"[A-Z1]", family.help), family.name
        assert family.help.endswith("."), family.name


def test_prometheus_has_no_objection(tmp_path: Path) -> None:
    metrics = one_of_each()
    check_prometheus_text("".join(render(metrics, TextFormat.PROMETHEUS)))
    check_openmetrics_text("".join(render(metrics, TextFormat.OPENMETRICS)), tmp_path)
