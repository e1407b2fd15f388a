"""The HTTP gateway: produces and consumes for callers that speak no Kafka protocol.

app.py, server.py    all paths, and a server with them
gateway.py           what the calls work on: callers, sessions, and what is in flight
calls/               the six plain calls
rest_v2/             the paths of Confluent's REST Proxy
streams/             server-sent events and WebSockets
messages/            messages as JSON
sessions/            consumers that requests come back to
callers/             whose credentials the cluster sees
ottla_clients.py     the clients of `ottla.client`, behind the protocols of clients.py
openapi/             the description of all calls
"""
