"""A cluster that falls silent."""

import pytest
from confluent_kafka import KafkaError

from ottla.cli.connection.connection_watch import PATIENCE_S, ConnectionWatch
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.captured_terminal import captured_terminal, complained

ALL_DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN)


def test_silence_ends_a_command_only_after_a_while() -> None:
    clock = SimulatedClock()
    watch = ConnectionWatch(clock, captured_terminal(), is_patient=False)
    clock.advance(PATIENCE_S * 2)
    watch.on_error(KafkaError(KafkaError._TRANSPORT))
    watch.check(has_received=False)
    watch.on_error(ALL_DOWN)
    clock.advance(PATIENCE_S / 2)
    watch.on_error(ALL_DOWN)
    watch.check(has_received=False)
    clock.advance(PATIENCE_S / 2)
    with pytest.raises(CommandError, match="has not answered for 10 s") as raised:
        watch.check(has_received=False)
    assert raised.value.exit_code == ExitCode.UNREACHABLE


def test_a_word_from_the_cluster_ends_the_silence() -> None:
    clock = SimulatedClock()
    watch = ConnectionWatch(clock, captured_terminal(), is_patient=False)
    watch.on_error(ALL_DOWN)
    watch.check(has_received=True)
    clock.advance(PATIENCE_S * 2)
    watch.check(has_received=False)


def test_patience_reports_each_silence_once() -> None:
    clock, terminal = SimulatedClock(), captured_terminal()
    watch = ConnectionWatch(clock, terminal, is_patient=True)
    for _ in range(2):
        watch.on_error(ALL_DOWN)
        clock.advance(PATIENCE_S)
        watch.check(has_received=False)
        watch.check(has_received=False)
        watch.check(has_received=True)
    assert complained(terminal).count("The connection to the cluster is lost") == 2
