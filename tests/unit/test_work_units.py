"""How the tests are shared out among workers."""

from pathlib import Path

from tests.support.work_units import SOURCE_AND_SINK, place_of, takes_from_the_back, unit_of

TOOLS = "tests/conformance/java_tools/test_cluster_topics.py::test_topics_are_listed"
EXCHANGE = "tests/conformance/test_exchange.py::test_a_client_reads_what_another_wrote[java-kcat]"
CRASHES = "tests/property/test_log_crashes.py::test_a_log_outlives_every_crash[100]"
HISTORY = "tests/property/test_log_crashes.py::test_a_history_repeats[1]"


def test_all_who_use_kafkas_clients_share_one_java_process() -> None:
    assert unit_of(TOOLS) == unit_of(EXCHANGE)


def test_all_tests_of_kafkas_classes_share_one_worker() -> None:
    judged = "tests/conformance/kafka/test_messages.py::test_a"
    assert unit_of(judged) == unit_of("tests/conformance/kafka/test_judge.py::test_b")
    assert unit_of(judged) != unit_of(TOOLS)


def test_one_apache_kafka_serves_all_tests_of_gateways() -> None:
    calls = "tests/conformance/gateway/test_calls.py::test_a"
    streams = "tests/conformance/gateway/test_streams.py::test_b"
    assert unit_of(f"{calls}[kafka]") == unit_of(f"{streams}[kafka-x]")
    assert unit_of(f"{calls}[ottla]") != unit_of(f"{calls}[kafka]")
    assert unit_of(f"{calls}[ottla]") != unit_of(f"{streams}[ottla]")


def test_two_spark_sessions_serve_all_modules() -> None:
    modules = [path.name for path in (Path(__file__).parents[1] / "pipeline").glob("test_*.py")]
    assert set(modules) > SOURCE_AND_SINK
    assert len({unit_of(f"tests/pipeline/{module}::test_a") for module in modules}) == 2


def test_a_module_is_a_unit() -> None:
    assert (
        unit_of("tests/unit/raft/test_log.py::TestClass::test_a") == "tests/unit/raft/test_log.py"
    )


def test_functions_that_compute_for_long_are_units() -> None:
    assert unit_of(CRASHES) != unit_of(HISTORY)
    assert unit_of(CRASHES) == unit_of(CRASHES.replace("100", "200"))


def test_what_waits_stands_before_what_computes() -> None:
    waiting = "tests/integration/cluster/test_faults.py::test_everything_acknowledged_outlives[a]"
    unit = "tests/unit/raft/test_log.py::test_a"
    assert sorted([CRASHES, unit, waiting, TOOLS], key=place_of) == [TOOLS, waiting, unit, CRASHES]


def test_every_second_worker_takes_from_the_back() -> None:
    assert [takes_from_the_back(f"gw{number}") for number in range(4)] == [False, True] * 2
