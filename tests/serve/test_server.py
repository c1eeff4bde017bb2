"""The command: a real server announces a batch that is applied meanwhile, ends quietly, and says what is wrong."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.serve.server import address_of, listening, serve
from tests.cli.running import finish, refused, run_process, start
from tests.serve.conftest import people

Served = Callable[..., tuple[subprocess.Popen[str], str, int]]


@pytest.fixture
def served(state: Path) -> Iterator[Served]:
    """Serve the state in a process of its own, at any free port; gives it, what it said and the port."""
    processes = []

    def begin(*words: str) -> tuple[subprocess.Popen[str], str, int]:
        process = start("serve", state, "--port", "0", *words, start_new_session=True)
        processes.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r":(\d+)/", said)
        assert found, (said, process.poll() is not None and process.communicate())
        return process, said, int(found[1])

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


@contextmanager
def response(port: int, path: str, **headers: str) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as answer:
            yield answer


def ask(port: int, path: str, **headers: str) -> tuple[int, str]:
    with response(port, path, **headers) as answer:
        return answer.status, answer.read().decode()


def batches(port: int) -> list[int]:
    return [batch["seq"] for batch in json.loads(ask(port, "/api/document")[1])["batches"]]


def events(answer: http.client.HTTPResponse) -> Iterator[dict[str, str]]:
    """The events of a stream, as they come."""
    about: dict[str, str] = {}
    for line in iter(answer.readline, b""):
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            about[name] = value
        elif "event" in about:
            yield about
            about = {}
        else:
            about = {}


def test_a_page_hears_of_a_batch_that_is_applied_meanwhile(served: Served, state: Path) -> None:
    process, said, port = served()
    assert f"{state} at http://127.0.0.1:{port}/; stop with Ctrl-C" in said
    assert batches(port) == []
    with response(port, "/api/events?since=0") as stream:
        news = events(stream)
        with Monitor.open(state) as monitor:
            monitor.apply(inserts=people(100, 2))
        assert next(news) == {"id": "1", "event": "batch", "data": '{"seq": 1}'}
        assert batches(port) == [1]
        with response(port, "/api/events", **{"Last-Event-ID": "0"}) as late:  # what it missed comes at once
            assert next(events(late))["data"] == '{"seq": 1}'
        os.killpg(process.pid, signal.SIGINT)
        assert list(news) == []  # streams that are open end
    ran = finish(process)
    assert (ran.code, ran.err) == (0, "Stopped.\n")


def test_another_address_needs_a_token(served: Served) -> None:
    _, said, port = served("--host", "0.0.0.0")
    found = re.search(r"\?token=([\w-]{32,});", said)
    assert found, said
    token = {"Authorization": f"Bearer {found[1]}"}
    assert [ask(port, "/")[0], ask(port, "/", **token)[0]] == [401, 200]
    assert ask(port, "/", **token, Host="evil.example")[0] == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_an_address_of_this_machine_alone_has_its_names(host: str) -> None:
    with listening(host, 0) as bound:
        address, is_private = address_of(host, bound)
        assert is_private
        assert all(address.is_ours(f"{name}:{address.port}") for name in (host, "localhost", "127.0.0.1", "[::1]"))
        assert address.url == f"http://{host}:{address.port}/"


def test_a_token_of_ones_own(served: Served) -> None:
    _, said, port = served("--token", "a-token-of-some-length")
    assert "?token=a-token-of-some-length;" in said
    assert ask(port, "/api/document")[0] == 401


def test_a_port_in_use(state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(run_process("serve", state, "--port", port), f"127.0.0.1:{port}", "address already in use", "--port")


@pytest.mark.parametrize(
    ("host", "token", "said"),
    [
        ("127.0.0.1", "short", "--token: give at least 16"),
        ("127.0.0.1", "a token with spaces in it", "--token: give at least 16"),
        ("no.such.host.invalid", None, "--host no.such.host.invalid: no such address"),
        ("192.0.2.1", None, "192.0.2.1:0 can't be served"),
        ("127.0.0.1", None, "not a Holdfast state"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, host: str, token: str | None, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        serve(tmp_path, host, 0, token)


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(state: Path, missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; from holdfast.cli import main; main()"
    command = [sys.executable, "-c", script, "serve", str(state)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr == f'holdfast: The live page needs {missing}: pip install "holdfast[serve]"\n'
