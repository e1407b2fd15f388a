"""`ottla[delta]`: the package that the connector writes with can be imported with what it needs."""

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from ottla.pipeline import Delta

assert Delta("flights").place
assert all((CommitProperties, DeltaTable, Transaction, write_deltalake))
