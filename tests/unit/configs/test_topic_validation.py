"""Which configs of delayed delivery a topic may have."""

from __future__ import annotations

import pytest

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.topic_validation import validate_topic_configs

ENABLED = {"ottla.delivery.delay.enable": "true"}


def validate(overrides: dict[str, str], existing: dict[str, str] | None = None) -> None:
    validate_topic_configs(overrides, existing=existing or {}, node=NodeConfig.of({}))


def test_delayed_delivery_can_be_switched_on() -> None:
    validate(ENABLED)
    validate({**ENABLED, "ottla.delivery.delay.ms": "5000"}, ENABLED)


@pytest.mark.parametrize(
    ("overrides", "existing", "reason"),
    [
        ({}, ENABLED, "cannot be switched off"),
        ({"ottla.delivery.delay.ms": "1"}, {}, "needs ottla.delivery.delay.enable=true"),
        ({**ENABLED, "cleanup.policy": "compact"}, {}, "needs cleanup.policy=delete"),
        (
            {**ENABLED, "ottla.delivery.delay.ms": "9", "ottla.delivery.delay.max.ms": "8"},
            {},
            "must not be more than",
        ),
    ],
)
def test_what_cannot_work_is_refused(
    overrides: dict[str, str], existing: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidConfigError, match=reason):
        validate(overrides, existing)
