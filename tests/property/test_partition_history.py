"""Whatever happens to brokers and partitions, the partitions stay sound."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.controller.partition_history import (
    BROKERS,
    STEP_NAMES,
    TOPICS,
    PartitionHistory,
    Step,
)

STEPS = st.builds(
    Step,
    name=st.sampled_from(STEP_NAMES),
    broker_id=st.sampled_from(BROKERS),
    topic=st.sampled_from(TOPICS),
    replicas=st.lists(st.sampled_from(BROKERS), unique=True, min_size=1).map(tuple),
    flag=st.booleans(),
)


@settings(max_examples=400, deadline=None)
@given(
    steps=st.lists(STEPS, max_size=60),
    has_elr=st.booleans(),
    min_isr=st.integers(1, 3),
    unclean=st.booleans(),
)
def test_partitions_stay_sound(
    steps: list[Step], has_elr: bool, min_isr: int, unclean: bool
) -> None:
    history = PartitionHistory(has_elr=has_elr, min_isr=min_isr, unclean=unclean)
    for step in steps:
        history.take(step)
