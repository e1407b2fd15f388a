"""W3C's Trace Context: which headers are taken, and what is passed on."""

from __future__ import annotations

import pytest

from ottla.tracing import TraceContext

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"


def test_a_context_is_passed_on_as_it_came() -> None:
    context = TraceContext.parse(PARENT, "congo=t61rcWkgMzE,rojo=00f0")
    assert context == TraceContext(TRACE, SPAN, 1, "congo=t61rcWkgMzE,rojo=00f0")
    assert context.is_sampled
    assert context.headers() == (
        ("traceparent", PARENT.encode()),
        ("tracestate", b"congo=t61rcWkgMzE,rojo=00f0"),
    )
    assert TraceContext.of_headers([("a", None), *context.headers()]) == context


def test_a_trace_that_is_not_recorded_is_passed_on() -> None:
    context = TraceContext.parse(PARENT[:-1] + "0")
    assert context is not None
    assert not context.is_sampled
    assert context.parent == PARENT[:-1] + "0"


def test_a_newer_version_may_have_more_fields() -> None:
    assert TraceContext.parse(f"cc-{TRACE}-{SPAN}-01-what-the-future-has") == TraceContext(
        TRACE, SPAN, 1
    )


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "own",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"{PARENT}\n",
        f"cc-{TRACE}-{SPAN}-01-{'x' * 300}",
    ],
)
def test_an_invalid_context_is_none(parent: str) -> None:
    assert TraceContext.parse(parent, "congo=1") is None
    assert TraceContext.of_headers([("traceparent", parent.encode())]) is None


@pytest.mark.parametrize("state", ["x" * 513, "a=\n", "ä=1"])
def test_an_invalid_state_is_left_out(state: str) -> None:
    assert TraceContext.parse(PARENT, state) == TraceContext(TRACE, SPAN, 1)
