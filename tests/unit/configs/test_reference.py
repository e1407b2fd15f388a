"""The texts that document configs, and docs/configs.md, which is made from them."""

from pathlib import Path

import pytest

from ottla.configs import ConfigResourceType
from ottla.configs.definition import Definitions
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)
from ottla.configs.documentation import documentation
from ottla.configs.documentation.lookup import TEXTS
from ottla.configs.reference import reference

BROKER = ConfigResourceType.BROKER
TOPIC = ConfigResourceType.TOPIC
GROUP = ConfigResourceType.GROUP
KINDS = {
    BROKER: {**BROKER_CONFIGS, **DYNAMIC_BROKER_CONFIGS},
    TOPIC: TOPIC_CONFIGS,
    GROUP: GROUP_CONFIGS,
}
DOCS = Path(__file__).resolve().parents[3] / "docs" / "configs.md"
REFERENCE = reference()


def test_the_file_of_all_settings_is_up_to_date() -> None:
    assert DOCS.read_text() == REFERENCE, "run: make docs-configs"


@pytest.mark.parametrize(("kind", "declared"), KINDS.items())
def test_every_config_is_in_the_file(kind: ConfigResourceType, declared: Definitions) -> None:
    for name in declared:
        assert f"### `{name}`\n" in REFERENCE, name


@pytest.mark.parametrize(("kind", "declared"), KINDS.items())
def test_every_config_and_no_other_is_documented(
    kind: ConfigResourceType, declared: Definitions
) -> None:
    assert TEXTS[kind].keys() == declared.keys()
    for name, text in TEXTS[kind].items():
        assert text.endswith("."), name
        assert "  " not in text, name
        assert 20 < len(text) < 400, name


def test_a_text_says_what_ottla_does_with_the_setting() -> None:
    effective = documentation(BROKER, "num.partitions")
    ignored = documentation(BROKER, "num.io.threads")
    refused = documentation(BROKER, "ssl.provider")
    with_exceptions = documentation(BROKER, "ssl.trustmanager.algorithm")
    assert effective is not None
    assert ignored is not None
    assert refused is not None
    assert with_exceptions is not None
    assert "Ottla" not in effective
    assert ignored.endswith("Ottla accepts this setting without effect.")
    assert refused.endswith("refuses any value except the default.")
    assert with_exceptions.endswith("refuses any value except the default or SunX509.")


def test_a_listeners_setting_has_the_text_of_all_listeners() -> None:
    name = "ssl.keystore.location"
    shared = documentation(BROKER, name)
    assert documentation(BROKER, f"listener.name.internal.{name}") == shared


def test_unknown_names_and_kinds_have_no_text() -> None:
    assert documentation(BROKER, "no.such.config") is None
    assert documentation(ConfigResourceType.BROKER_LOGGER, "root") is None
