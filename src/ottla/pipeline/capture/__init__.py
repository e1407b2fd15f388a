"""Change data capture from PostgreSQL: a table's rows, and then every change, as a stream."""
