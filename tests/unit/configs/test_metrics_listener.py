"""Where a node serves its metrics: nowhere, on loopback, or where it is told."""

from __future__ import annotations

import pytest

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.exposure import metrics_exposure_warnings

NAME = "ottla.metrics.listener"


def config(text: str) -> NodeConfig:
    return NodeConfig.of({NAME: text}, data_dir="/data")


def test_a_node_serves_no_metrics_by_default() -> None:
    assert NodeConfig.of({}, data_dir="/data").metrics_listener is None
    assert config(" ").metrics_listener is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("9404", ("127.0.0.1", 9404)),
        ("0", ("127.0.0.1", 0)),
        ("localhost:9404", ("localhost", 9404)),
        ("[::1]:9404", ("::1", 9404)),
        ("0.0.0.0:9404", ("0.0.0.0", 9404)),
    ],
)
def test_an_address_or_a_port_of_loopback(text: str, wanted: tuple[str, int]) -> None:
    assert config(text).metrics_listener == wanted


@pytest.mark.parametrize("text", [":9404", "a b:1", "host", "host:99999", "http://host:1", "-1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfigError, match=NAME):
        config(text)


def test_an_address_that_others_reach_is_warned_about() -> None:
    for text in ("", "9404", "localhost:1", "127.0.0.7:1", "[::1]:1"):
        assert not list(metrics_exposure_warnings(config(text)))
    (warning,) = metrics_exposure_warnings(config("0.0.0.0:9404"))
    assert warning is not None
    assert warning.startswith("Metrics are served on 0.0.0.0:9404 without authentication")
