"""`ottla[client]`: a record is produced and consumed on the command line."""

from node import ottla, running_node

with running_node() as node:
    at = ("--bootstrap", node.address)
    ottla("topics", "create", "orders", *at)
    ottla("produce", "orders", *at, standard_input="an apple\n")
    assert "an apple" in ottla("consume", "orders", "--from", "beginning", *at)
