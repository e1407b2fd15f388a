from __future__ import annotations

from http import HTTPStatus

from ottla.cli.start.workers.monitoring import Page, page_of_health, page_of_metrics

WELL = Page(200, "ok\n")
GONE = Page(503, "does not answer (connection refused)")


def test_health_is_that_of_all_workers() -> None:
    assert page_of_health([WELL, WELL]).status is HTTPStatus.OK
    page = page_of_health([WELL, GONE])
    assert page.status is HTTPStatus.SERVICE_UNAVAILABLE
    assert page.body == b"worker 0: ok\nworker 1: does not answer (connection refused)\n"


def test_metrics_are_those_of_the_workers_that_answer() -> None:
    page = page_of_metrics([GONE, Page(200, "# TYPE a gauge\na 1\n# EOF\n")], "")
    assert page.status is HTTPStatus.OK
    assert page.body == b'# TYPE a gauge\na{worker="1"} 1\n# EOF\n'
    assert page.content_type.startswith("application/openmetrics-text")
    assert page_of_metrics([GONE], "").status is HTTPStatus.SERVICE_UNAVAILABLE
