"""The live page: a state shown in a browser while batches arrive. Only this package imports what serves."""
