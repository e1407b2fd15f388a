"""The foundation of the programs that serve HTTP.

application.py     an ASGI application from routes: identity, limits, errors, metrics
route_index.py     the routes that a path may have
web_server.py     uvicorn on our event loop, with TLS and an orderly end
listening.py       where to listen; beyond this host only with authentication
identity.py        who sends a request, and cluster_login.py: whether the cluster agrees
caller_logins.py   logins at the cluster: shared, limited, and remembered where refused
forwarding.py      requests sent on to another instance, at its instance_address.py
bodies.py          bodies of requests, with limits
problems.py        what went wrong, as an HTTP response
monitoring.py      /metrics, /healthz and /readyz
request_traces.py  a span for each request, and web_traces.py: their export
"""
