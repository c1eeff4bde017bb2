"""What batches usually look like: figures of each batch, kept over time, and whether a batch is far outside of them.

Past batches are facts of the history, and don't follow from a table. So this is no class of rules: nothing is found
again from scratch, and nothing is replayed. A batch is measured once, from its own rows, and its figures are stored
with it, in the same transaction.
"""
