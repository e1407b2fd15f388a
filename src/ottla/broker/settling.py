"""What a node does once it serves: imports the remaining handlers and starts its housekeeping."""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.network.handling import HandledApi, load_all
from ottla.controller.service import OPERATIONS, operation_of


async def settle(broker: Broker) -> None:
    config, clock, tasks = broker.config, broker.clock, broker.tasks
    apis: list[HandledApi] = []
    if config.is_broker:
        apis += broker.apis.values()
    if config.listeners.controller:
        apis += broker.controller_apis.values()
    await load_all(apis, clock)
    for key in OPERATIONS:
        operation_of(key)
        await clock.sleep(0)
    from ottla.broker.chores.deleted_space import DeletedSpace
    from ottla.broker.chores.housekeeping import (
        Housekeeping,
        Intervals,
        connection_idle_seconds,
    )
    from ottla.controller.chores import ControllerChores

    if config.is_controller:
        chores = ControllerChores(broker.service.controller, clock)
        tasks.start("preferred leaders", chores.elect_preferred())
        tasks.start("unclean leaders", chores.elect_unclean())
        tasks.start("expired delegation tokens", chores.remove_expired_tokens())
        tasks.start("expired deleted topics", chores.purge_deleted_topics())
    space = DeletedSpace(
        broker.cluster, broker.logs, broker.failures, broker.changes, broker.background
    )
    Housekeeping(
        broker.cluster,
        clock,
        broker.dice,
        tasks,
        broker.background,
        broker.logs,
        broker.commit,
        broker.replication,
        broker.failures,
        broker.connections,
        broker.metrics,
        space,
        intervals=Intervals.of(config),
        connection_idle_seconds=connection_idle_seconds(config),
    ).start()
