-- Format 5: what a batch of several tables did to each of them; its row in `batches` has the sums, and `*` for a table.
-- Older states get this table when they are opened for writing.
CREATE TABLE batch_parts (
  seq INTEGER NOT NULL, table_name TEXT NOT NULL, inserted INTEGER NOT NULL, deleted INTEGER NOT NULL,
  ignored INTEGER NOT NULL, next_id INTEGER NOT NULL, PRIMARY KEY (seq, table_name)
);
-- What changes of rules and columns were: these stand among the batches, too.
CREATE TABLE reshaped (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
