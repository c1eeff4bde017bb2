"""Tables and queries of databases, as Arrow: DuckDB, SQLite, PostgreSQL, and any other that has an ADBC driver."""
