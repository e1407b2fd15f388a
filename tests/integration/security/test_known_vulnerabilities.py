"""Vulnerabilities that were found in other systems, and the tests that repeat each of them here.

A row without tests is about a part that does not exist yet; whoever builds it adds them.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
UNIT, INTEGRATION = "tests/unit", "tests/integration"
SECURITY = f"{INTEGRATION}/security"


class Vulnerability(NamedTuple):
    reports: tuple[str, ...]
    what: str
    # As pytest names them, without parameters.
    tests: tuple[str, ...]
    # The part that it is about, if that does not exist yet.
    later: str = ""


VULNERABILITIES = (
    Vulnerability(
        ("CVE-2026-111108", "CVE-2026-111115"),
        "declared counts of arrays and tags exhaust the memory",
        (
            "tests/property/test_malformed_messages.py::"
            "test_claim_of_billions_allocates_next_to_nothing",
            "tests/property/test_malformed_messages.py::"
            "test_arrays_of_empty_elements_allocate_in_proportion",
            f"{UNIT}/broker/network/test_before_authentication.py::"
            "test_announced_counts_take_no_memory",
            f"{INTEGRATION}/test_malformed_input.py::test_huge_counts_are_refused_at_once",
        ),
    ),
    Vulnerability(
        ("CVE-2022-34917",),
        "memory is taken before authentication",
        (
            f"{UNIT}/broker/network/test_before_authentication.py::"
            "test_announced_size_takes_no_memory",
            f"{SECURITY}/test_floods.py::test_larger_frames_are_refused_before_authentication",
            f"{SECURITY}/test_floods.py::test_silent_and_slow_clients_are_closed_at_one_deadline",
            f"{SECURITY}/test_floods.py::"
            "test_half_open_handshakes_end_at_the_deadline_and_leave_no_memory",
        ),
    ),
    Vulnerability(
        ("CVE-2026-111073", "apache/kafka#23429", "franz-go#1461"),
        "decompression bombs in telemetry, produce requests, compaction and clients",
        (
            f"{UNIT}/broker/handlers/test_telemetry.py::test_a_bomb_is_refused_at_the_limit",
            f"{INTEGRATION}/test_malformed_input.py::test_bombs_are_refused_before_they_take_much",
            f"{UNIT}/storage/test_batch_bombs.py::"
            "test_a_batch_that_would_be_too_large_when_opened_is_refused",
            f"{UNIT}/storage/test_garbage_batches.py::"
            "test_compaction_keeps_a_bomb_and_compacts_the_rest",
            # The readers of pipelines and commands open bodies with these.
            f"{UNIT}/wire/test_compression.py::test_bomb_is_stopped_at_the_limit",
            f"{UNIT}/wire/test_record.py::test_decompression_is_bounded",
        ),
    ),
    Vulnerability(
        ("CVE-2026-33557", "CVE-2026-110985"),
        "OAUTHBEARER accepts any token, or does not verify the signature",
        (
            f"{SECURITY}/test_refused_tokens.py::test_forged_tokens_are_refused",
            f"{UNIT}/security/sasl/test_jwt.py::test_unsecured_token_is_refused_always",
            f"{UNIT}/configs/test_security_settings.py::"
            "test_handlers_that_accept_unsigned_tokens_are_refused",
            f"{UNIT}/configs/test_sasl_settings.py::test_a_listener_that_could_not_work_is_refused",
        ),
    ),
    Vulnerability(
        ("CVE-2025-61673",),
        "credentials that are missing count as checked",
        (
            f"{SECURITY}/test_refused_passwords.py::"
            "test_no_other_api_is_answered_before_authentication",
            f"{UNIT}/broker/authorization/test_forwarding.py::"
            "test_request_without_a_principal_has_the_rights_of_the_node",
        ),
        later="the schema registry, where it was found",
    ),
    Vulnerability(
        ("CVE-2026-82266",),
        "a port for administrators is open to everyone",
        (
            f"{SECURITY}/test_impersonation.py::test_a_node_opens_no_other_ports",
            f"{UNIT}/configs/test_security_settings.py::"
            "test_listeners_that_others_can_use_or_read_are_named",
            f"{INTEGRATION}/cli/test_refused_starts.py::"
            "test_a_secured_configuration_opens_no_unsecured_node",
        ),
    ),
    Vulnerability(
        ("CVE-2026-123270",),
        "an open API of pipelines leads to the execution of code",
        (),
        later="an API of pipelines",
    ),
    Vulnerability(
        ("CVE-2023-50976", "CVE-2018-17196"),
        "ACLs are missing or bypassed in transactions",
        (
            f"{SECURITY}/test_impersonation.py::test_transactions_need_their_right_in_every_batch",
            f"{SECURITY}/test_impersonation.py::"
            "test_a_transaction_of_another_client_is_neither_begun_nor_ended",
            f"{UNIT}/broker/authorization/test_every_api.py::"
            "test_requests_without_a_right_are_refused_without_effect",
        ),
    ),
    Vulnerability(
        ("CVE-2018-1288",),
        "a client poses as a replica",
        (
            f"{SECURITY}/test_impersonation.py::test_a_client_cannot_fetch_as_a_replica",
            f"{SECURITY}/test_impersonation.py::test_a_client_cannot_pose_as_a_node_of_the_quorum",
        ),
    ),
    Vulnerability(
        ("CVE-2017-12610",),
        "a client authenticates as another one with SASL",
        (
            f"{SECURITY}/test_refused_passwords.py::test_wrong_passwords_are_refused",
            f"{SECURITY}/test_refused_tokens.py::test_valid_tokens_are_those_of_their_subject_only",
            f"{SECURITY}/test_refused_tokens.py::test_reauthentication_cannot_change_the_session",
        ),
    ),
    Vulnerability(
        ("CVE-2026-10143",),
        "a number of SCRAM iterations keeps the other side busy",
        (
            f"{UNIT}/channels/test_false_nodes.py::"
            "test_absurd_numbers_of_iterations_are_refused_at_once",
            f"{UNIT}/broker/network/test_authentication.py::"
            "test_credential_with_other_iterations_is_not_stored",
        ),
    ),
    Vulnerability(
        ("CVE-2021-38153",),
        "the time of a comparison tells how much of a secret was right",
        (
            f"{UNIT}/broker/network/test_authentication.py::"
            "test_secrets_are_compared_in_constant_time_for_unknown_users_too",
        ),
    ),
    Vulnerability(
        ("CVE-2023-25194", "CVE-2025-27817", "CVE-2025-27818", "CVE-2025-27819"),
        "configs lead to the execution of code, to files being read and to forged requests",
        (f"{SECURITY}/test_hostile_configs.py::test_configs_reach_no_file_and_no_port",),
        later="connectors, where it was found",
    ),
    Vulnerability(
        ("CVE-2023-52251", "CVE-2026-5562"),
        "filters of messages are evaluated as code",
        (),
        later="the console",
    ),
    Vulnerability(
        ("CVE-2026-33558",),
        "secrets are logged",
        (
            f"{SECURITY}/test_planted_secrets.py::test_running_node_reveals_no_secret",
            f"{SECURITY}/test_planted_secrets.py::test_refused_start_reveals_no_secret",
            f"{UNIT}/security/test_secrets.py::test_text_of_a_config_has_no_secret",
        ),
    ),
)


@cache
def names_of_tests(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", VULNERABILITIES, ids=lambda row: row.reports[0])
def test_every_vulnerability_is_repeated_by_tests_that_exist(row: Vulnerability) -> None:
    assert row.tests or row.later
    for name in row.tests:
        path, _, test = name.partition("::")
        assert test in names_of_tests(path), f"there is no {name}"
