"""Tables and JSON of topics, configs, offsets and benchmarks."""

import json

import pytest
from rich.table import Table

from ottla.cli.bench.latency import Latencies
from ottla.cli.bench.load import BenchLoad, Throughput, make_values, summarise_latencies
from ottla.cli.bench.report import Report, print_report, report_json
from ottla.cli.configs.run import config_json, configs_table
from ottla.cli.display.cells import size
from ottla.cli.offsets.run import PartitionOffsets, offsets_json, offsets_table
from ottla.cli.topics.views import (
    PartitionView,
    TopicView,
    description_json,
    listing_json,
    listing_table,
    print_description,
)
from ottla.client.administration.configs import DescribedConfig
from ottla.client.administration.offsets import ListedOffset
from ottla.client.administration.topics import TopicDescription, TopicPartitionDescription
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource, ConfigType
from ottla.model import ZERO_UUID
from tests.support.captured_terminal import COLUMNS, captured_terminal, said


def lines_of(table: Table) -> list[list[str]]:
    terminal = captured_terminal()
    terminal.stdout.print(table)
    lines = said(terminal).splitlines()
    assert all(len(line) <= COLUMNS for line in lines)
    return [line.split() for line in lines]


def listed(
    name: str, *partitions: tuple[int | None, tuple[int, ...], tuple[int, ...]]
) -> TopicDescription:
    described = tuple(
        TopicPartitionDescription(number, leader, 0, replicas, in_sync, ())
        for number, (leader, replicas, in_sync) in enumerate(partitions)
    )
    return TopicDescription(name, ZERO_UUID, is_internal=False, partitions=described)


HEALTHY = listed("orders", (1, (1, 2), (2, 1)), (2, (2, 1), (2, 1)))
AILING = listed("payments", (None, (1, 2), ()), (2, (2, 1), (2,)))


def test_a_listing_has_a_column_for_notes_only_if_there_are_any() -> None:
    assert lines_of(listing_table([HEALTHY])) == [
        ["topic", "partitions", "replicas"],
        ["orders", "2", "2"],
    ]
    last = lines_of(listing_table([HEALTHY, AILING]))[-1]
    assert " ".join(last) == "payments 2 2 1 without leader, 2 under-replicated"


def test_a_listing_as_json() -> None:
    assert listing_json(AILING) == {
        "topic": "payments",
        "partitions": 2,
        "replication_factor": 2,
        "without_leader": 1,
        "under_replicated": 2,
    }


DESCRIBED = TopicView(
    "orders",
    topic_id="Xpg4tkALSf-FY9wNYt7YUA",
    is_internal=False,
    configs={"retention.ms": "3600000"},
    partitions=(
        PartitionView(0, leader=1, replicas=(1, 2), in_sync=(1, 2), earliest=7, latest=1007),
        PartitionView(1, leader=None, replicas=(2, 1), in_sync=(), earliest=None, latest=None),
    ),
)


def test_a_description_shows_partitions_under_what_was_set() -> None:
    terminal = captured_terminal()
    print_description(terminal.stdout, DESCRIBED)
    lines = said(terminal).splitlines()
    assert lines[0] == "orders  id Xpg4tkALSf-FY9wNYt7YUA, 2 partitions"
    assert lines[1] == "retention.ms=3600000"
    assert lines[3].split() == ["0", "1", "7", "1007", "1,000", "1,", "2", "1,", "2"]
    assert lines[4].split() == ["1", "none", "-", "-", "-", "2,", "1", "-"]


def test_a_description_as_json() -> None:
    fields = json.loads(json.dumps(description_json(DESCRIBED)))
    assert list(fields) == ["topic", "topic_id", "is_internal", "configs", "partitions"]
    assert fields["partitions"][1] == {
        "partition": 1,
        "leader": None,
        "replicas": [2, 1],
        "in_sync": [],
        "earliest": None,
        "latest": None,
    }


def config(
    name: str, value: str | None, *, is_read_only: bool = False, is_sensitive: bool = False
) -> DescribedConfig:
    source = ConfigSource.DYNAMIC_TOPIC_CONFIG
    return DescribedConfig(name, value, source, ConfigType.STRING, is_read_only, is_sensitive)


def test_configs_say_when_they_change_only_if_some_need_a_restart() -> None:
    assert lines_of(configs_table([config("a", "1"), config("b", "")])) == [
        ["config", "from", "value"],
        ["a", "topic", "1"],
        ["b", "topic", '""'],
    ]
    fixed = lines_of(configs_table([config("a", None, is_read_only=True), config("b", "2")]))
    assert fixed[1:] == [["a", "topic", "at", "restart", "null"], ["b", "topic", "at", "once", "2"]]


def test_secrets_stay_hidden() -> None:
    (row,) = lines_of(configs_table([config("password", None, is_sensitive=True)]))[1:]
    assert row == ["password", "topic", "hidden"]


def test_a_config_as_json_names_its_owner() -> None:
    assert config_json(
        ConfigResource(ConfigResourceType.TOPIC, "orders"), config("retention.ms", "1")
    ) == {
        "topic": "orders",
        "name": "retention.ms",
        "value": "1",
        "source": "dynamic_topic_config",
        "is_read_only": False,
        "is_sensitive": False,
    }
    of_broker = ConfigResource(ConfigResourceType.BROKER, "3")
    assert config_json(of_broker, config("a", "1"))["broker"] == "3"


OFFSETS = [
    PartitionOffsets(0, 5, 1_005, ListedOffset(700, 1_794_817_800_000, 0)),
    PartitionOffsets(1, 0, 0, None),
]


def test_offsets_at_a_time_have_columns_of_their_own() -> None:
    assert lines_of(offsets_table(OFFSETS, None)) == [
        ["partition", "earliest", "latest", "length"],
        ["0", "5", "1005", "1,000"],
        ["1", "0", "0", "0"],
        ["all", "1,000"],
    ]
    titled = lines_of(offsets_table(OFFSETS, 1_794_817_700_000))
    assert " ".join(titled[0]).endswith("at 2026-11-16 08:28:20.000 its time")
    assert titled[1][4:] == ["700", "2026-11-16", "08:30:00.000"]
    assert titled[2][4:] == ["-", "-"]


def test_offsets_as_json_have_a_time_only_on_request() -> None:
    first, second = (offsets_json("orders", row, has_time=True) for row in OFFSETS)
    assert (first["at_time"], first["at_time_timestamp"]) == (700, 1_794_817_800_000)
    assert (second["at_time"], second["at_time_timestamp"]) == (None, None)
    assert "at_time" not in offsets_json("orders", OFFSETS[0], has_time=False)


def test_percentiles_are_of_the_records_themselves() -> None:
    latency = summarise_latencies(number / 1_000 for number in range(1_000, 0, -1))
    assert latency == pytest.approx((1_000, 500.0, 990.0, 999.0, 1_000.0))
    assert summarise_latencies([0.002]) == pytest.approx((1, 2.0, 2.0, 2.0, 2.0))


@pytest.mark.parametrize("length", [8, 64, 1_000])
def test_values_of_a_benchmark_differ_and_have_one_length(length: int) -> None:
    values = make_values(length)
    assert len(set(values)) == len(values)
    assert {len(value) for value in values} == {length}


def report() -> Report:
    latency = summarise_latencies([0.001, 0.002])
    return Report(
        BenchLoad(seconds=5, value_bytes=1_000, rate=1_000, acks="all", compression="none"),
        partitions=3,
        produced=Throughput(1_000_000, 1_000_000_000, 4.0),
        consumed=Throughput(1_000_000, 1_000_000_000, 2.0),
        latencies=Latencies(latency, latency),
    )


def test_a_benchmark_is_two_tables() -> None:
    terminal = captured_terminal()
    print_report(terminal.stdout, report())
    lines = said(terminal).splitlines()
    assert lines[0] == "3 partitions, values of 1,000 bytes, acks=all, compression none"
    assert lines[3].split() == ["produced", "1,000,000", "4.00", "250,000", "250.0"]
    assert lines[7].split() == ["acknowledged", "2", "1.00", "2.00", "2.00", "2.00"]


def test_a_benchmark_as_json_has_a_line_for_each_test() -> None:
    tests = [(fields["test"], fields.get("until")) for fields in report_json(report())]
    assert tests == [
        ("produce", None),
        ("consume", None),
        ("latency", "acknowledged"),
        ("latency", "consumed"),
    ]
    assert all(fields["acks"] == "all" for fields in report_json(report()))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_500, "1.5 kB"),
        (99_960, "100 kB"),
        (999_600, "1.0 MB"),
        (2_500_000_000_000, "2,500 GB"),
    ],
)
def test_sizes_have_few_digits(amount: int, text: str) -> None:
    assert size(amount) == text
