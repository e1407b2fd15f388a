"""A broker checks its configs against those that it was started with; only it knows these."""

from __future__ import annotations

import pytest

from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.controller.operations.alter_configs import incremental_alter_configs
from ottla.model import ErrorCode
from ottla.wire.messages import alter_configs as whole
from ottla.wire.messages import incremental_alter_configs as incremental
from tests.support.controller.cluster_images import broker, context, features, image_of
from tests.support.nodes.one_node import NODE_ID, StartNode

BROKER = ConfigResourceType.BROKER
THREADS = "background.threads"


def one(node_id: int, threads: int) -> incremental.IncrementalAlterConfigsRequest:
    config = incremental.AlterableConfig(
        name=THREADS, config_operation=ConfigOperation.SET, value=str(threads)
    )
    resource = incremental.AlterConfigsResource(
        resource_type=BROKER, resource_name=str(node_id), configs=[config]
    )
    return incremental.IncrementalAlterConfigsRequest(resources=[resource])


@pytest.mark.parametrize(("threads", "is_allowed"), [(30, True), (60, True), (61, False)])
def test_threads_may_double_from_what_this_broker_has(
    start_node: StartNode, threads: int, is_allowed: bool
) -> None:
    node = start_node(configs={THREADS: "30"})
    (answer,) = node.send_request(one(NODE_ID, threads), 1).responses
    expected = ErrorCode.NONE if is_allowed else ErrorCode.INVALID_REQUEST
    assert answer.error_code == expected
    if is_allowed:
        assert node.broker.config[THREADS] == threads


def test_each_change_is_judged_by_the_one_before(start_node: StartNode) -> None:
    node = start_node()
    for threads, error in ((20, ErrorCode.NONE), (40, ErrorCode.NONE), (10, "refused")):
        (answer,) = node.send_request(one(NODE_ID, threads), 1).responses
        assert (answer.error_code == ErrorCode.NONE) == (error == ErrorCode.NONE)


def test_replacing_all_is_judged_alike(start_node: StartNode) -> None:
    node = start_node()
    config = whole.AlterableConfig(name=THREADS, value="500")
    resource = whole.AlterConfigsResource(
        resource_type=BROKER, resource_name=str(NODE_ID), configs=[config]
    )
    (answer,) = node.send_request(whole.AlterConfigsRequest(resources=[resource]), 2).responses
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert THREADS in answer.error_message


def test_the_controller_does_not_judge_by_its_own() -> None:
    image = image_of(*features(), broker(1), broker(2))
    records, response = incremental_alter_configs(image, one(2, 500), context())
    assert [each.error_code for each in response.responses] == [ErrorCode.NONE]
    assert len(records) == 1
