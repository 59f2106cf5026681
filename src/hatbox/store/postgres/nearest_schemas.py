"""Profiles in schemas with a name similar to one that has no profile."""

from __future__ import annotations

from typing import Final

from hatbox.errors import ProfileNotFound
from hatbox.store.nearest import nearest_names, profile_not_found
from hatbox.store.postgres.connection import PostgresConnection, Statement

__all__ = ["not_found"]

_PROFILES: Final = Statement(
    "SELECT schemaname::text FROM pg_tables WHERE tablename IN ('head', 'identities') "
    "GROUP BY schemaname HAVING count(*) = 2 ORDER BY schemaname LIMIT 1000"
)


def not_found(connection: PostgresConnection, schema: str) -> ProfileNotFound:
    """The error for a schema without a profile, where none may be created. Names similar schemas."""
    existing = [str(name) for (name,) in connection.run([_PROFILES])[0]]
    similar = nearest_names(schema, existing) or (existing if len(existing) == 1 else [])
    problem = f"no profile exists there: the schema {schema} has none"
    return profile_not_found(connection.label, problem, "ADDRESS", (f"?schema={each}" for each in similar))
