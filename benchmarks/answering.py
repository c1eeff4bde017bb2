"""Runs commands one after another in this process: words come as a line of JSON, and so does what the command printed.

Run as a file, with a version of Holdfast on Python's path (see `same.py`), so it needs nothing else of the project.
"""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

from holdfast import cli


def answer(words: list[str]) -> dict[str, object]:
    """The exit code of a command, and what it printed."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    sys.argv = ["holdfast", *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return {"code": code, "out": texts[0], "err": texts[1]}


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
