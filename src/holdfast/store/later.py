"""Tables of the database that came after the format of states: a state that lacks them gets them with its next commit,
and reads as if they were empty until then.
"""

from __future__ import annotations

import sqlite3

# The scores of rules when rows broke them, and how many rows had tested each.
LOST_SCORES = "lost_scores"
# The given rules whose violations are accepted, and what came since.
BASELINES = "baselines"
# The values of violations that raised an alarm: a hash of those in the columns of the rule, and how often each came.
INCIDENTS = "incidents"
# What batches usually look like: the figures that are watched of a table; those of each batch, where it was far outside
# of others; and what was said of it.
LAYOUTS = "figure_layouts"
BATCH_FIGURES = "batch_figures"
UNUSUAL = "unusual_figures"

_TABLES = {
    LOST_SCORES: """
        seq INTEGER NOT NULL, engine TEXT NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL, score REAL NOT NULL,
        support INTEGER NOT NULL, PRIMARY KEY (seq, engine, table_name, text)""",
    BASELINES: """
        engine TEXT NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL, json TEXT NOT NULL,
        PRIMARY KEY (engine, table_name, text)""",
    INCIDENTS: """
        engine TEXT NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL, seq INTEGER NOT NULL,
        violations INTEGER NOT NULL, PRIMARY KEY (engine, table_name, text, hash)""",
    LAYOUTS: "table_name TEXT PRIMARY KEY, json TEXT NOT NULL",
    BATCH_FIGURES: """
        table_name TEXT NOT NULL, lane TEXT NOT NULL, seq INTEGER NOT NULL, day REAL NOT NULL, dated INTEGER NOT NULL,
        figures BLOB NOT NULL, sides BLOB NOT NULL, PRIMARY KEY (table_name, lane, seq)""",
    UNUSUAL: """
        seq INTEGER NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL, severity TEXT NOT NULL, json TEXT NOT NULL,
        PRIMARY KEY (seq, table_name, text)""",
}


def make_later_tables(database: sqlite3.Connection) -> None:
    """Make those that are missing, within a transaction."""
    for name, columns in _TABLES.items():
        database.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")


def later_tables(database: sqlite3.Connection) -> set[str]:
    """Those that a state has."""
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return names & _TABLES.keys()
