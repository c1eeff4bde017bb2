"""A webhook on this machine: a real server, which takes messages, answers as it is asked to, or hangs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG = 0


class Hook:
    """What a server does with each request, in turn (an HTTP status, or HANG; the last one for all others), and what
    it got.
    """

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.messages: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.hangs = threading.Event()  # a request hangs now
        self.ends = threading.Event()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.messages.append(json.loads(body))
                hook.headers.append({name.lower(): value for name, value in self.headers.items()})
                hook.paths.append(self.path)
                answer = hook.answers.pop(0) if len(hook.answers) > 1 else hook.answers[0]
                if answer == HANG:
                    hook.hangs.set()
                    hook.ends.wait()
                    return
                self.send_response(answer)
                if answer in (301, 302, 307):
                    self.send_header("Location", f"{hook.address}/elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"


@contextmanager
def hook(*answers: int) -> Iterator[Hook]:
    """A server that runs."""
    made = Hook(*answers)
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.ends.set()
        made.server.shutdown()
        made.server.server_close()
