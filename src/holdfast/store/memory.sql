-- Format 4: what a state remembers. Older states get these tables when they are opened for writing.
ALTER TABLE events ADD COLUMN implied_by TEXT NOT NULL DEFAULT '';
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
