-- Format 6. A change is a new format: raise FORMAT in database.py, and run `make golden`.
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
  json TEXT NOT NULL, witness TEXT, implied_by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX events_by_text ON events (table_name, text);
CREATE TABLE checkpoints (
  engine TEXT NOT NULL, table_name TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (engine, table_name)
) WITHOUT ROWID;
-- What a batch of several tables did to each of them; its row in `batches` has the sums, and `*` for a table.
CREATE TABLE batch_parts (
  seq INTEGER NOT NULL, table_name TEXT NOT NULL, inserted INTEGER NOT NULL, deleted INTEGER NOT NULL,
  ignored INTEGER NOT NULL, next_id INTEGER NOT NULL, PRIMARY KEY (seq, table_name)
);
-- What changes of rules and columns were: these stand among the batches, too.
CREATE TABLE reshaped (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
-- How many events of each kind a batch had.
CREATE TABLE event_counts (
  seq INTEGER NOT NULL, event TEXT NOT NULL, rules INTEGER NOT NULL, PRIMARY KEY (seq, event)
) WITHOUT ROWID;
-- What follows stands in the order of batches, so that a batch writes at the ends of tables alone. Of figures a row is
-- there only where one of them is another than before.
CREATE TABLE subjects (
  id INTEGER PRIMARY KEY, engine TEXT NOT NULL, table_name TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (engine, table_name, text)
);
CREATE TABLE rule_figures (
  seq INTEGER NOT NULL, subject INTEGER NOT NULL, violations INTEGER, g3 REAL, score REAL, PRIMARY KEY (seq, subject)
) WITHOUT ROWID;
CREATE TABLE column_figures (
  seq INTEGER NOT NULL, subject INTEGER NOT NULL, nulls INTEGER NOT NULL, distinct_values INTEGER NOT NULL,
  PRIMARY KEY (seq, subject)
) WITHOUT ROWID;
-- Values of rows that broke a rule, as they were then; and how many rows of a batch are not kept, as they are too many.
CREATE TABLE witness_rows (
  seq INTEGER NOT NULL, table_name TEXT NOT NULL, number INTEGER NOT NULL, rule TEXT NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY (seq, table_name, number)
) WITHOUT ROWID;
CREATE TABLE rows_left_out (seq INTEGER PRIMARY KEY, rows INTEGER NOT NULL);
-- The files of watched folders that were applied: how each looked, and what it held.
CREATE TABLE handled_files (
  path TEXT PRIMARY KEY, looks TEXT NOT NULL, digest TEXT NOT NULL, version INTEGER NOT NULL
);
