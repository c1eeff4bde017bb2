"""What a CI host shows of a check or a batch: JUnit XML, SARIF and Markdown.

`api/ci.py` gathers a summary (`summary.py`) from results; each other module here makes one text of it, and
`output.py` writes these into files.
"""
