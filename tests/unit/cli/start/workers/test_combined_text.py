from __future__ import annotations

from ottla.cli.start.workers.combined_text import combine_texts

FIRST = """# TYPE ottla_requests counter
# HELP ottla_requests Requests with "quotes" and # signs.
ottla_requests_total{api="Fetch{1} # x"} 17
# TYPE ottla_up gauge
# HELP ottla_up Alive.
ottla_up 1
# EOF
"""
SECOND = """# TYPE ottla_requests counter
# HELP ottla_requests Requests with "quotes" and # signs.
ottla_requests_total{api="Produce"} 3
# TYPE ottla_leader info
# HELP ottla_leader Only a controller has it.
ottla_leader_info{} 1
# EOF
"""


def test_samples_of_a_family_are_together_and_say_their_worker() -> None:
    assert combine_texts({0: FIRST, 1: SECOND}) == (
        "# TYPE ottla_requests counter\n"
        '# HELP ottla_requests Requests with "quotes" and # signs.\n'
        'ottla_requests_total{worker="0",api="Fetch{1} # x"} 17\n'
        'ottla_requests_total{worker="1",api="Produce"} 3\n'
        "# TYPE ottla_up gauge\n"
        "# HELP ottla_up Alive.\n"
        'ottla_up{worker="0"} 1\n'
        "# TYPE ottla_leader info\n"
        "# HELP ottla_leader Only a controller has it.\n"
        'ottla_leader_info{worker="1"} 1\n'
        "# EOF\n"
    )


def test_the_text_format_of_prometheus_has_no_end() -> None:
    text = "# HELP a A.\n# TYPE a gauge\na 1\n"
    assert combine_texts({2: text}) == '# HELP a A.\n# TYPE a gauge\na{worker="2"} 1\n'
