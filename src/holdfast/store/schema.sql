-- Format 1; see memory.sql and parts.sql, too. A change is a new format: raise FORMAT in database.py, and make a golden state of it.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tables (
  name TEXT PRIMARY KEY, columns TEXT NOT NULL, key TEXT NOT NULL, options TEXT NOT NULL, left_out TEXT NOT NULL,
  next_id INTEGER NOT NULL, row_count INTEGER NOT NULL
);
CREATE TABLE segments (
  id INTEGER PRIMARY KEY AUTOINCREMENT, table_name TEXT NOT NULL, file TEXT NOT NULL UNIQUE, first_id INTEGER NOT NULL,
  seq INTEGER NOT NULL
);
CREATE TABLE batches (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, batch_id TEXT NOT NULL UNIQUE, table_name TEXT NOT NULL, at TEXT NOT NULL,
  kind TEXT NOT NULL, inserted INTEGER NOT NULL, deleted INTEGER NOT NULL, ignored INTEGER NOT NULL,
  seconds REAL NOT NULL, next_id INTEGER NOT NULL,
  gained INTEGER NOT NULL, lost INTEGER NOT NULL, changed INTEGER NOT NULL
);
CREATE TABLE results (
  engine TEXT NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY (engine, table_name, text)
) WITHOUT ROWID;
CREATE TABLE events (
  seq INTEGER NOT NULL, engine TEXT NOT NULL, table_name TEXT NOT NULL, event TEXT NOT NULL, text TEXT NOT NULL,
  json TEXT NOT NULL, witness TEXT
);
CREATE INDEX events_by_text ON events (table_name, text);
CREATE TABLE checkpoints (
  engine TEXT NOT NULL, table_name TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (engine, table_name)
) WITHOUT ROWID;
