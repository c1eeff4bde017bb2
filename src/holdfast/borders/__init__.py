"""Rules of tall tables: evidence with witnesses, the candidates that it leaves, and their proof, to a fixpoint."""
