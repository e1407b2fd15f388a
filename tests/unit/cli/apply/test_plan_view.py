"""How plans look, and what is reported of their changes."""

from __future__ import annotations

import json

from ottla.cli.apply.execution import ChangeResult, batches
from ottla.cli.apply.plan import ApplyPlan, make_plan
from ottla.cli.apply.plan_view import KEPT_LISTED_MAX, print_kept, print_plan
from ottla.cli.apply.progress_report import ProgressReport
from ottla.cli.apply.run import question
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import PresentPartition, PresentState, PresentTopic
from ottla.cli.exit_codes import CommandError
from ottla.security.acls.acl import AclOperation, ResourceType
from tests.support.apply.model_cluster import TOPIC_CONFIGS, with_set
from tests.support.captured_terminal import captured_terminal, complained, said
from tests.support.security.acls import acl

FILE = """
manages: {topics: [old], acls: [old]}
topics:
  new: {assignment: [[1, 2]], configs: {retention.ms: 10}}
  orders: {partitions: 2, configs: {retention.ms: 20, cleanup.policy: compact}}
users: {a: {password_file: p, mechanisms: {SCRAM-SHA-512: }}}
"""
SHOWN = """\
+ topic new
    partitions: 1
    replicas of 0: 1, 2
    retention.ms: 10
~ topic orders
    ~ partitions: 1 -> 2
    ~ cleanup.policy: delete -> compact (was not set here)
    ~ retention.ms: 10 -> 20
    - preallocate: true (the default applies again)
+ user a
    SCRAM-SHA-512: 8192 iterations (password from password_file: p)
- acl allow User:a read on topic old
- topic old
    partitions: 1 (with all records)
Plan: 2 to create, 1 to change, 2 to delete.
"""


def plan(*, is_pruning: bool = True) -> ApplyPlan:
    desired, mistakes = parse_files([("f.yaml", FILE)])
    assert not mistakes
    one = (PresentPartition((1,)),)
    configs = with_set(TOPIC_CONFIGS, {"retention.ms": "10", "preallocate": "true"})
    state = PresentState(
        brokers={1: None, 2: None},
        topics={"orders": PresentTopic(one, configs=configs), "old": PresentTopic(one)},
        acls=frozenset([acl(AclOperation.READ, ResourceType.TOPIC, "old", principal="User:a")]),
    )
    return make_plan(desired, state, is_pruning=is_pruning)


def test_a_plan_shows_what_changes_from_what_to_what() -> None:
    terminal = captured_terminal()
    print_plan(terminal, plan(), as_json=False)
    assert said(terminal) == SHOWN


def test_a_plan_as_json_has_an_object_for_each_subject() -> None:
    terminal = captured_terminal()
    print_plan(terminal, plan(), as_json=True)
    lines = [json.loads(line) for line in said(terminal).splitlines()]
    assert [(line["action"], line["kind"], line["name"]) for line in lines] == [
        ("create", "topic", "new"),
        ("change", "topic", "orders"),
        ("create", "user", "a"),
        ("delete", "acl", "allow User:a read on topic old"),
        ("delete", "topic", "old"),
    ]
    assert lines[1]["changes"][0] == {"name": "partitions", "before": "1", "after": "2"}


def test_what_is_kept_is_named_up_to_a_limit() -> None:
    terminal = captured_terminal()
    kept = plan(is_pruning=False)
    print_kept(terminal, kept)
    assert "preallocate of topic orders, topic old, acl allow User:a read" in complained(terminal)
    many = ApplyPlan((), (), tuple(f"topic {n}" for n in range(KEPT_LISTED_MAX + 5)), ())
    print_kept(terminal, many)
    assert "and 5 more" in complained(terminal)


def test_the_question_names_lost_records() -> None:
    assert question(plan()) == "Apply this plan? It deletes 1 topic with all records."
    assert question(plan(is_pruning=False)) == "Apply this plan?"


def test_progress_counts_what_is_done() -> None:
    changes = plan().changes
    terminal = captured_terminal()
    progress = ProgressReport(terminal, changes, as_json=False)
    progress.report(ChangeResult(changes[0], None))
    assert said(terminal) == "[1/6] created topic new\n"
    progress.report(ChangeResult(changes[1], CommandError("no")))
    assert progress.summary == "1 of 6 changes were made."
    terminal = captured_terminal()
    ProgressReport(terminal, changes, as_json=True).report(
        ChangeResult(changes[1], CommandError("no"))
    )
    assert json.loads(said(terminal)) == {
        "outcome": "refused",
        "action": "change",
        "kind": "topic",
        "name": "orders",
        "changes": ["partitions"],
        "reason": "no",
    }


def test_a_request_has_changes_of_one_stage_and_kind() -> None:
    found = list(batches(plan().changes))
    assert [change for batch in found for change in batch] == list(plan().changes)
    for batch in found:
        assert len({(type(change), change.stage) for change in batch}) == 1
