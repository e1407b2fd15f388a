"""What a node honors, ignores or refuses."""

import pytest

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.support import refusal_of

TIERED_STORAGE = "remote.log.storage.system.enable"


def test_defaults_and_effective_settings_are_not_reported() -> None:
    node = NodeConfig.of(
        {
            "num.io.threads": "8",
            "queued.max.request.bytes": " -1 ",
            "kafka.metrics.reporters": "",
            "num.partitions": "3",
            "unknown.setting": "x",
        },
        data_dir="/data",
        listen="127.0.0.1:9092",
    )
    assert node.without_effect() == ()


def test_settings_without_effect_are_reported_where_they_are_set() -> None:
    node = NodeConfig.of(
        {
            "num.io.threads": "4",
            "share.coordinator.threads": "2",
            "listener.name.plaintext.num.network.threads": "2",
            "num.partitions": "3",
        }
    )
    assert node.without_effect() == (
        "listener.name.plaintext.num.network.threads",
        "num.io.threads",
        "share.coordinator.threads",
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (TIERED_STORAGE, "true", "does not support tiered storage"),
        ("create.topic.policy.class.name", "a.Policy", "cannot run Java classes"),
        ("alter.config.policy.class.name", "a.Policy", "cannot run Java classes"),
        ("client.quota.callback.class", "a.Quota", "cannot run Java classes"),
        ("config.providers", "file", "does not support config providers"),
    ],
)
def test_settings_that_promise_a_missing_feature_are_refused(
    name: str, text: str, reason: str
) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of({name: text})
    message = refused.value.message
    assert message.startswith(f"{name}: ")
    assert reason in message
    assert "; remove it" in message


def test_each_reason_is_given_once_for_all_of_its_settings() -> None:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of({"config.providers": "a", "security.providers": "b", "ssl.provider": "c"})
    message = refused.value.message
    assert message.startswith("config.providers: ")
    assert ". security.providers, ssl.provider: Ottla uses OpenSSL" in message


def test_defaults_are_not_refused() -> None:
    for name, text in (
        (TIERED_STORAGE, "FALSE"),
        ("config.providers", " "),
        ("ssl.key.password", ""),
    ):
        assert refusal_of(name, text) is None
