"""Where a node sends its metrics, and what it says about that."""

from __future__ import annotations

import pytest

from ottla.configs import InvalidConfigError, NodeConfig, describe_broker
from ottla.configs.exposure import metrics_exposure_warnings
from ottla.configs.otlp_endpoint import OtlpEndpoint

ENDPOINT = "ottla.metrics.otlp.endpoint"
HEADERS = "ottla.metrics.otlp.headers"


def config(endpoint: str, headers: str = "") -> NodeConfig:
    return NodeConfig.of({ENDPOINT: endpoint, HEADERS: headers}, data_dir="/data")


def parsed(endpoint: str, headers: str = "") -> OtlpEndpoint:
    found = config(endpoint, headers).metrics_otlp_endpoint
    assert found is not None
    return found


def test_a_node_sends_no_metrics_by_default() -> None:
    node = NodeConfig.of({}, data_dir="/data")
    assert node.metrics_otlp_endpoint is None
    assert not node.has_metrics
    assert config("http://localhost").has_metrics


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/metrics"),
        ("https://collector:4318/", "https://collector:4318/v1/metrics"),
        ("https://host/api/otlp/v1/metrics?t=1", "https://host/api/otlp/v1/metrics?t=1"),
        (" http://[::1]:4318 ", "http://[::1]:4318/v1/metrics"),
    ],
)
def test_an_url_without_a_path_gets_that_of_metrics(text: str, url: str) -> None:
    assert parsed(text).url == url


@pytest.mark.parametrize(
    "text", ["collector:4318", "grpc://host", "http://", "http://host:99999", "https://a:secret@b"]
)
def test_other_endpoints_are_refused_without_showing_them(text: str) -> None:
    with pytest.raises(InvalidConfigError, match=ENDPOINT) as refused:
        config(text)
    assert "secret" not in str(refused.value)


def test_headers_are_decoded_and_never_shown() -> None:
    text = "Authorization=Bearer%20a%2Cb, X-Tenant = main,"
    found = parsed("https://host", text)
    assert {name: value.value for name, value in found.headers.items()} == {
        "Authorization": "Bearer a,b",
        "X-Tenant": "main",
    }
    assert "Bearer" not in repr(found)
    (entry,) = describe_broker(config("https://host", text), names=[HEADERS])
    assert entry.is_sensitive
    assert entry.value is None


@pytest.mark.parametrize("text", ["secret", "a b=secret", "A=secret%0d%0aB: 1", "=secret"])
def test_invalid_headers_are_refused_without_showing_them(text: str) -> None:
    with pytest.raises(InvalidConfigError, match=f"{HEADERS}: header 1") as refused:
        config("https://host", text)
    assert "secret" not in str(refused.value)


def test_a_node_warns_if_it_sends_credentials_without_encryption() -> None:
    assert not list(metrics_exposure_warnings(config("https://host", "A=1")))
    assert not list(metrics_exposure_warnings(config("http://127.0.0.1", "A=1")))
    assert not list(metrics_exposure_warnings(config("http://host")))
    (warning,) = metrics_exposure_warnings(config("http://host", "A=secret"))
    assert warning.startswith("Metrics are sent to host without encryption")
    assert "secret" not in warning
