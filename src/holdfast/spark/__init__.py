"""Spark: the only importer of pyspark. Sessions, sources, staging jobs, task runner, streaming."""
