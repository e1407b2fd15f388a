"""Plans that are carried out against a node that answers by a script."""

from __future__ import annotations

import pytest

from ottla.cli.apply.changes import AddAcl, Change, CreateTopic
from ottla.cli.apply.execution import CHANGES_PER_REQUEST, ChangeResult, Executor
from ottla.cli.apply.plan import make_plan
from ottla.cli.apply.run import ApplyOptions, carry_out
from ottla.cli.cluster_file.mistakes import Place
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import PresentState
from ottla.cli.exit_codes import ExitCode
from ottla.client.administration.admin import Admin
from ottla.model import ErrorCode
from ottla.runtime.system_clock import SystemClock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from ottla.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.wire.schema import Message
from tests.support.captured_terminal import captured_terminal, complained, said
from tests.support.nodes.scripted_cluster import ScriptedCluster
from tests.support.security.acls import acl

PLACE = Place("f.yaml", 1)


class Topics:
    """A cluster that creates topics, but those in `refused`."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.created: list[str] = []
        self.validated: list[str] = []

    def answer(self, request: Message) -> Message:
        if isinstance(request, CreateTopicsRequest):
            names = [topic.name for topic in request.topics]
            known = self.validated if request.validate_only else self.created
            known += [name for name in names if name not in self.refused]
            return CreateTopicsResponse(topics=[self._result(name) for name in names])
        if isinstance(request, CreateAclsRequest):
            return CreateAclsResponse(results=[AclCreationResult() for _ in request.creations])
        if isinstance(request, ListPartitionReassignmentsRequest):
            return ListPartitionReassignmentsResponse()
        if isinstance(request, DescribeConfigsRequest):
            return DescribeConfigsResponse(
                results=[
                    DescribeConfigsResult(
                        resource_type=each.resource_type, resource_name=each.resource_name
                    )
                    for each in request.resources
                ]
            )
        if isinstance(request, DescribeClusterRequest):
            return DescribeClusterResponse(brokers=[DescribeClusterBroker(broker_id=1)])
        assert isinstance(request, MetadataRequest)
        partition = MetadataResponsePartition(replica_nodes=[1])
        topics = [MetadataResponseTopic(name=name, partitions=[partition]) for name in self.created]
        return MetadataResponse(brokers=[MetadataResponseBroker(node_id=1)], topics=topics)

    def _result(self, name: str) -> CreatableTopicResult:
        if name in self.refused:
            code = ErrorCode.POLICY_VIOLATION
            return CreatableTopicResult(name=name, error_code=code, error_message="not that one")
        return CreatableTopicResult(name=name)


def new_topic(name: str) -> CreateTopic:
    return CreateTopic(name, PLACE, None, None, None, ())


def executed(topics: Topics, changes: list[Change]) -> tuple[bool, list[ChangeResult]]:
    results: list[ChangeResult] = []

    async def execute(admin: Admin) -> bool:
        executor = Executor(admin, {}, SystemClock(), on_wait=lambda _moving: None)
        return await executor.execute(changes, results.append)

    return ScriptedCluster(topics.answer).run(execute), results


def test_a_refusal_ends_the_run_after_its_request() -> None:
    topics = Topics("bad")
    added = AddAcl(acl(AclOperation.READ, ResourceType.TOPIC, "good"), PLACE)
    is_done, results = executed(topics, [new_topic("bad"), new_topic("good"), added])
    assert not is_done
    assert topics.created == ["good"]
    assert [result.change.name for result in results if result.error is None] == ["good"]
    assert len(results) == 2


def test_many_changes_are_several_requests() -> None:
    topics = Topics()
    count = 2 * CHANGES_PER_REQUEST + 1
    is_done, results = executed(topics, [new_topic(f"t{index}") for index in range(count)])
    assert is_done
    assert len(results) == len(topics.created) == count


def test_validation_changes_nothing_and_finds_every_refusal() -> None:
    topics = Topics("bad", "worse")
    changes = [new_topic(name) for name in ("bad", "good", "worse")]

    async def validate(admin: Admin) -> list[ChangeResult]:
        executor = Executor(admin, {}, SystemClock(), on_wait=lambda _moving: None)
        return await executor.validate(changes)

    refused = ScriptedCluster(topics.answer).run(validate)
    assert [result.change.name for result in refused] == ["bad", "worse"]
    assert (topics.created, topics.validated) == ([], ["good"])


@pytest.mark.parametrize(
    ("refused", "exit_code", "text"),
    [((), ExitCode.OK, "Applied 2 changes."), (("b",), ExitCode.REFUSED, "[1/2] created topic a")],
)
def test_a_run_says_how_far_it_came(
    refused: tuple[str, ...], exit_code: ExitCode, text: str
) -> None:
    topics, terminal = Topics(*refused), captured_terminal()
    desired, mistakes = parse_files([("f.yaml", "topics: {a: , b: }")])
    assert not mistakes
    plan = make_plan(desired, PresentState(brokers={1: None}), is_pruning=False)
    options = ApplyOptions(["f.yaml"])
    code = ScriptedCluster(topics.answer).run(
        lambda admin: carry_out(admin, terminal, desired, plan, {}, options)
    )
    assert code is exit_code
    assert text in said(terminal)
    if refused:
        assert "Cannot create topic b: not that one (POLICY_VIOLATION)" in complained(terminal)
        assert "1 of 2 changes were made." in complained(terminal)
