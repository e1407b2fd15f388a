"""Who is alive, as far as the active controller can know."""

from ottla.controller.broker_sessions import BrokerSessions
from tests.support.controller.cluster_images import broker, image_of

TIMEOUT_MS, GRACE_MS = 9000, 100


def sessions(*brokers: int, now_ms: int = 0) -> BrokerSessions:
    """Those brokers are not fenced; broker 9 is, and broker 8 is shutting down."""
    image = image_of(
        *(broker(number) for number in brokers),
        broker(8, in_controlled_shutdown=True) if 8 in brokers else [],
        broker(9, fenced=True),
    )
    return BrokerSessions(
        image.brokers.values(),
        session_timeout_ms=TIMEOUT_MS,
        now_ms=now_ms,
        reconnect_grace_ms=GRACE_MS,
    )


def beat(
    alive: BrokerSessions,
    broker_id: int,
    now_ms: int,
    *,
    offset: int = 0,
    is_fenced: bool = False,
    connection: object = None,
) -> None:
    alive.heartbeat(
        broker_id,
        now_ms=now_ms,
        metadata_offset=offset,
        is_fenced=is_fenced,
        connection=connection,
    )


def test_new_controller_gives_every_broker_a_whole_session() -> None:
    alive = sessions(1, 2, now_ms=500)
    assert alive.next_deadline_ms == 500 + TIMEOUT_MS
    assert alive.overdue(now_ms=499 + TIMEOUT_MS) is None
    assert alive.overdue(now_ms=500 + TIMEOUT_MS) == 1


def test_without_brokers_that_serve_there_is_nothing_to_wait_for() -> None:
    alive = sessions()
    assert alive.next_deadline_ms is None
    assert alive.overdue(now_ms=10**9) is None


def test_heartbeat_extends_a_session() -> None:
    alive = sessions(1, 2)
    beat(alive, 1, 1000)
    assert alive.next_deadline_ms == TIMEOUT_MS
    assert alive.overdue(now_ms=TIMEOUT_MS) == 2
    alive.end(2)
    assert alive.next_deadline_ms == 1000 + TIMEOUT_MS
    assert alive.overdue(now_ms=TIMEOUT_MS) is None


def test_who_has_been_due_longest_is_first() -> None:
    alive = sessions()
    for broker_id, now_ms in ((3, 20), (1, 30), (2, 10)):
        beat(alive, broker_id, now_ms)
    order = []
    while (overdue := alive.overdue(now_ms=10**6)) is not None:
        order.append(overdue)
        alive.end(overdue)
    assert order == [2, 3, 1]


def test_fenced_broker_has_no_session_and_begins_one_when_it_serves() -> None:
    alive = sessions()
    beat(alive, 9, 100, is_fenced=True)
    assert alive.next_deadline_ms is None
    beat(alive, 9, 200)
    assert alive.has_session(9, now_ms=200)
    beat(alive, 9, 300, is_fenced=True)
    assert not alive.has_session(9, now_ms=300)


def test_closed_connection_leaves_only_the_grace() -> None:
    alive, connection = sessions(1, 2), object()
    beat(alive, 1, 1000, connection=connection)
    beat(alive, 2, 1000, connection=object())
    alive.disconnected(connection, now_ms=1500)
    assert alive.next_deadline_ms == 1500 + GRACE_MS
    assert alive.overdue(now_ms=1499 + GRACE_MS) is None
    assert alive.overdue(now_ms=1500 + GRACE_MS) == 1


def test_broker_that_connects_anew_within_the_grace_has_a_whole_session() -> None:
    alive, connection = sessions(1), object()
    beat(alive, 1, 1000, connection=connection)
    alive.disconnected(connection, now_ms=1500)
    beat(alive, 1, 1550, connection=object())
    assert alive.next_deadline_ms == 1550 + TIMEOUT_MS


def test_connection_that_a_broker_uses_no_more_can_close() -> None:
    alive, old, new = sessions(1), object(), object()
    beat(alive, 1, 1000, connection=old)
    beat(alive, 1, 2000, connection=new)
    alive.disconnected(old, now_ms=2001)
    alive.disconnected(object(), now_ms=2001)
    assert alive.next_deadline_ms == 2000 + TIMEOUT_MS


def test_silent_broker_whose_connection_is_open_has_the_whole_session() -> None:
    alive = sessions(1)
    beat(alive, 1, 1000, connection=object())
    assert alive.overdue(now_ms=999 + TIMEOUT_MS) is None
    assert alive.overdue(now_ms=1000 + TIMEOUT_MS) == 1


def test_suspicion_shortens_a_session_and_never_extends_it() -> None:
    alive = sessions(1)
    alive.suspect(1, until_ms=10**6)
    assert alive.next_deadline_ms == TIMEOUT_MS
    alive.suspect(1, until_ms=700)
    assert alive.overdue(now_ms=700) == 1
    alive.suspect(5, until_ms=700)


def test_only_a_broker_with_a_heartbeat_and_without_suspicion_is_certainly_alive() -> None:
    alive, connection = sessions(1), object()
    assert not alive.has_session(1, now_ms=0)
    beat(alive, 1, 0, connection=connection)
    assert alive.has_session(1, now_ms=TIMEOUT_MS - 1)
    assert not alive.has_session(1, now_ms=TIMEOUT_MS)
    alive.disconnected(connection, now_ms=1)
    assert not alive.has_session(1, now_ms=1)
    assert not alive.has_session(7, now_ms=1)


def test_broker_may_stop_when_all_that_stay_have_read_of_it() -> None:
    alive = sessions(1, 2, 3)
    for broker_id in (1, 2, 3):
        beat(alive, broker_id, 0, offset=10)
    alive.begin_controlled_shutdown(1, offset=20)
    assert not alive.others_know(1)
    beat(alive, 2, 1, offset=20)
    assert not alive.others_know(1)
    beat(alive, 3, 1, offset=25)
    assert alive.others_know(1)


def test_later_records_do_not_put_a_shutdown_off() -> None:
    alive = sessions(1, 2)
    beat(alive, 2, 0, offset=20)
    alive.begin_controlled_shutdown(1, offset=20)
    alive.begin_controlled_shutdown(1, offset=50)
    assert alive.others_know(1)


def test_those_that_shut_down_together_do_not_wait_for_each_other() -> None:
    alive = sessions(1, 2)
    alive.begin_controlled_shutdown(1, offset=20)
    alive.begin_controlled_shutdown(2, offset=30)
    assert alive.others_know(1)
    assert alive.others_know(2)


def test_fenced_broker_keeps_no_other_broker_from_stopping() -> None:
    alive = sessions(1, 2)
    alive.begin_controlled_shutdown(1, offset=20)
    assert not alive.others_know(1)
    alive.end(2)
    assert alive.others_know(1)


def test_new_controller_lets_a_broker_stop_once_the_others_sent_heartbeats() -> None:
    alive = sessions(1, 8)
    assert not alive.others_know(8)
    beat(alive, 1, 0, offset=5)
    assert alive.others_know(8)
    assert alive.others_know(77)
