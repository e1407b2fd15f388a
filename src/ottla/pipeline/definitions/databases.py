"""Names of databases, for messages about their drivers."""

from __future__ import annotations

import re
from typing import Final

# Databases by what follows "jdbc:" in a URL.
_DATABASES: Final = {
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "sqlserver": "SQL Server",
    "oracle": "Oracle",
    "db2": "Db2",
    "h2": "H2",
    "derby": "Derby",
    "snowflake": "Snowflake",
}


def no_driver(place: str) -> str:
    """`place` contains the URL of the database."""
    kind = re.search(r"jdbc:(\w+)", place)
    name = kind[1] if kind is not None else ""
    database = _DATABASES.get(name, name or "the database")
    jar = f"{name or 'driver'}.jar"
    return f"no JDBC driver for {database}: add its jar with --conf spark.jars={jar}"
