"""The live page: what a state holds, served to a browser, following the batches that arrive."""
