"""What a chapter of a document takes for granted: shell commands that run before it.

Documents name them in marks, `<!-- given: a node, orders -->`, where showing them to readers every
time would be in their way.
"""

from __future__ import annotations

# Begins a command that stays in the foreground of a terminal of its own.
STAYING = "true; "
GIVENS = {
    "nothing": "",
    "a node": "true; ottla start --data-dir ./data",
    "a web server": "true; python -u -m http.server 8080 --bind 127.0.0.1",
    "tenant listeners": (
        "true; ottla start --data-dir ./data"
        " --set listeners=PLAINTEXT://127.0.0.1:9092,ACME://127.0.0.1:9192,BETA://127.0.0.1:9292"
        " --set listener.security.protocol.map="
        "PLAINTEXT:PLAINTEXT,ACME:PLAINTEXT,BETA:PLAINTEXT,CONTROLLER:PLAINTEXT"
        " --set inter.broker.listener.name=PLAINTEXT"
        " --set ottla.tenant.listeners=ACME:acme,BETA:beta"
    ),
    "four nodes": "true; ottla cluster up --nodes 4",
    "three nodes": "true; ottla cluster up --nodes 3",
    "a secured cluster": """\
true; ottla cluster up --secure --nodes 1
until ottla cluster status > status.txt 2>&1; do sleep 0.1; done
""",
    "a leader that was stopped": "ottla cluster stop 1 && ottla cluster restart 1",
    "server.properties": """\
cat > server.properties <<END
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://host-1:9093
advertised.listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://host-1:9093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=host-1:9093,host-2:9093
log.dirs=$PWD/data
END
""",
    "orders": """\
ottla topics create orders --partitions 3
seq -f 'key%g:order %g' 30 | ottla produce orders --format key-value
""",
    "orders.txt": "printf 'alice:3 apples\\nbob:1 pear\\n' > orders.txt",
    "pipelines": "mkdir pipelines",
    "billing": "true; python -u $OTTLA_DOCS/billing.py",
    "a transaction": "true; python -u $OTTLA_DOCS/open_transaction.py",
    "flights": """\
ottla topics create flights delays copies --partitions 2
echo '{"origin": "JFK", "delay": 20, "scheduled": "2013-01-01T10:00:00Z"}' | ottla produce flights
""",
}
