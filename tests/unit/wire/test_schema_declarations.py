"""The tool that prints declarations prints what the table says, for all messages there are."""

import re
import sys
from types import ModuleType

import pytest

from scripts.declare_messages import module_source, table_names
from tests.support.kafka.declared_layout import layout_of
from tests.support.kafka.protocol_table import (
    layouts_by_version,
    message_class_name,
    message_names,
    stable_versions,
)

NAMES = sorted({re.sub("(Request|Response)?(Data)?$", "", name) for name in message_names()})


@pytest.mark.parametrize("name", NAMES)
def test_printed_module_declares_what_the_table_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(f"printed_{name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(module_source([name]), vars(module))
    for message in table_names(name):
        cls = getattr(module, message_class_name(message))
        layouts = layouts_by_version(message)
        assert list(cls.versions) == stable_versions(message)
        for version in cls.versions:
            assert layout_of(cls, version, flexible=version in cls.flexible) == layouts[version]


def test_structs_of_one_name_are_distinguished() -> None:
    source = module_source(["Vote", "DescribeTopicPartitions"])
    assert "class VoteRequestPartitionData(Struct):" in source
    assert "class VoteResponsePartitionData(Struct):" in source
    assert source.count("class Cursor(Struct):") == 1


def test_unknown_name_is_refused() -> None:
    with pytest.raises(SystemExit, match="the table has no API and no record named Teleport"):
        module_source(["Teleport"])
