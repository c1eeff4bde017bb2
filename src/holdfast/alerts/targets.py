"""Where notifications go.

    alerts.jsonl, file:alerts.log     a file: one JSON object a line
    command:mail -s alarm ops         a shell command: the message as JSON on its standard input
    https://example.org/hook          a webhook: a POST of the message as JSON
    slack:${SLACK_URL}                a webhook of Slack, in its form

`${NAME}` in an address is a variable of the environment; a command has its own from the shell. So no secret needs to
stand in the command line. An address may be a secret as a whole, so only its host is ever shown, and of a command only
the first word. No value of a table becomes a part of a command line.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from holdfast.errors import BadInput
from holdfast.sources.secrets import redacted
from holdfast.store.layout import state_of
from holdfast.visible import counted

Message = Mapping[str, Any]

VERDICT = "HOLDFAST_VERDICT"  # the variable that a command finds the verdict in
_FORMS = "file:PATH, command:CMD, https://… or slack:URL"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_LONGEST = 3500  # letters of a text in Slack
_LATER = (408, 425, 429)  # answers that ask to try again
_LONGEST_VERDICT = 4000  # letters of a variable


class UndeliveredError(Exception):
    """A target did not take a message; says why, without any part of the address. `is_final`: nor will it take it in a
    few seconds.
    """

    def __init__(self, why: str, is_final: bool = False) -> None:
        super().__init__(why)
        self.is_final = is_final


@dataclass(frozen=True)
class Target(ABC):
    """A target, as it was written: its variables are looked up when something is sent."""

    written: str

    @property
    @abstractmethod
    def shown(self) -> str:
        """What it is called, without secrets."""

    @property
    def fingerprint(self) -> str:
        """What the outbox calls it: the address can't be read from this, and no password can be tried out on it."""
        return hashlib.blake2b(redacted(self.written).encode(), digest_size=8).hexdigest()

    @abstractmethod
    def send(self, message: Message, seconds: float) -> None:
        """Send a message; UndeliveredError where that fails or takes too long."""


@dataclass(frozen=True)
class FileTarget(Target):
    """A file that gets a line for each message."""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.written.removeprefix("file:"))

    @property
    def shown(self) -> str:
        """The path."""
        return str(self.path)

    def send(self, message: Message, seconds: float) -> None:  # noqa: ARG002
        """Add a line, whole or not at all."""
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                size = os.fstat(handle).st_size
                if os.write(handle, line) < len(line):
                    os.ftruncate(handle, size)
                    raise UndeliveredError("no space left on the disk")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise UndeliveredError(os.strerror(error.errno or 0).lower()) from None


@dataclass(frozen=True)
class CommandTarget(Target):
    """A shell command that reads the message."""

    @property
    def command(self) -> str:
        """The command."""
        return self.written.removeprefix("command:")

    @property
    def shown(self) -> str:
        """Its first word: others may be secrets."""
        try:
            first = shlex.split(self.command)[0]
        except ValueError:  # a quote that only the shell understands
            first = self.command.split()[0]
        return f"command {Path(first).name}{' …' if len(self.command.split()) > 1 else ''}"

    def send(self, message: Message, seconds: float) -> None:
        """Run it, with the verdict in its environment, and end it where it takes too long."""
        known = {**os.environ, VERDICT: str(message["verdict"])[:_LONGEST_VERDICT]}
        running = subprocess.Popen(
            self.command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=known,
            start_new_session=True,
        )  # fmt: skip
        try:
            running.communicate(json.dumps(message, ensure_ascii=False).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise UndeliveredError(f"took longer than {seconds:.0f} s, and was ended") from None
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        if running.returncode:
            raise UndeliveredError(f"ended with exit code {running.returncode}")


@dataclass(frozen=True)
class Webhook(Target):
    """An address that takes the message as JSON."""

    @property
    def shown(self) -> str:
        """The host, or the variables that the address is in."""
        return _host(self.written) or "webhook"

    def content(self, message: Message) -> Any:
        """What is sent."""
        return dict(message)

    @property
    def address(self) -> str:
        """The address, with the values of its variables."""
        return expanded(self.written)

    def send(self, message: Message, seconds: float) -> None:
        """POST it; the answer must be a 2xx, and is not read."""
        import base64
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        parts = urlsplit(self.address)
        host = parts.netloc.rpartition("@")[2]
        headers = {"Content-Type": "application/json; charset=utf-8", "Idempotency-Key": str(message["id"])}
        if parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(user).decode()}"
        data = json.dumps(self.content(message), ensure_ascii=False).encode()
        try:
            request = Request(parts._replace(netloc=host).geturl(), data, headers, method="POST")
            with _opener().open(request, timeout=seconds):
                return
        except HTTPError as error:
            error.close()
            raise UndeliveredError(
                f"answered {error.code}", 300 <= error.code < 500 and error.code not in _LATER
            ) from None
        except (OSError, HTTPException, ValueError) as error:
            raise UndeliveredError(_reason(error, seconds)) from None


@dataclass(frozen=True)
class SlackHook(Webhook):
    """An incoming webhook of Slack."""

    @property
    def shown(self) -> str:
        """Slack, and the host."""
        host = _host(self.written)
        return f"slack ({host})" if host else "slack"

    @property
    def address(self) -> str:
        """The address, with the values of its variables."""
        return expanded(self.written.removeprefix("slack:"))

    def content(self, message: Message) -> Any:
        """The verdict in bold, and what follows it as it would stand in a terminal."""
        first, _, rest = _escaped(message["text"][:_LONGEST]).partition("\n")
        name = _escaped(str(message["state"]))
        return {"text": f"*{name}*: {first}" + (f"\n```\n{rest}\n```" if rest else "")}


def target(written: str) -> Target:
    """The target that a text means."""
    kind = written.partition(":")[0].lower()
    if kind == "command" and written.removeprefix("command:").strip():
        return CommandTarget(written)
    if kind == "slack":
        return _checked(SlackHook(written))
    if kind in ("http", "https"):
        return _checked(Webhook(written))
    if (kind == "file" and written != "file:") or (written.endswith(".jsonl") and "://" not in written):
        return _file(FileTarget(written))
    raise BadInput(f"--notify: this is no target: give {_FORMS}, or a file that ends with .jsonl")


def default_targets() -> list[str]:
    """The targets in the environment, with spaces between them; those with spaces in quotes."""
    try:
        return shlex.split(os.environ.get("HOLDFAST_NOTIFY", ""))
    except ValueError:
        raise BadInput("HOLDFAST_NOTIFY: a quote is not closed; close it") from None


def expanded(text: str) -> str:
    """A text with the values of its variables."""

    def value(found: re.Match[str]) -> str:
        if (known := os.environ.get(found[1])) is None:
            raise BadInput(f"--notify: the variable {found[1]} is not set in the environment; set it")
        return known

    return _VARIABLE.sub(value, text)


def _file(found: FileTarget) -> FileTarget:
    """A file that can get messages."""
    if found.path.is_dir():
        raise BadInput(f"--notify {found.path}: this is a folder; name a file")
    if (state := state_of(found.path)) is not None:
        raise BadInput(f"--notify {found.path}: this file belongs to the state {state}; name another")
    return found


def _checked(hook: Webhook) -> Webhook:
    """A webhook whose address can be one."""
    try:
        parts = urlsplit(hook.address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits or re.search(r"[\s\x00-\x1f]", hook.address):
        raise BadInput(f"--notify {hook.shown}: the address is not valid; it begins with https:// and has a host")
    return hook


def _host(written: str) -> str:
    """The host of an address; variables stay as they are written."""
    bare = written.removeprefix("slack:")
    if "${" in bare.partition("?")[0].split("/", 3)[-1 if "://" not in bare else 2]:
        return "".join(f"${{{name}}}" for name in _VARIABLE.findall(bare)[:1])
    try:
        return urlsplit(bare).hostname or ""
    except ValueError:
        return ""


def _opener() -> Any:
    """Opens addresses, by a proxy where the environment names one. A message is not sent on to another address."""
    from urllib.request import HTTPRedirectHandler, build_opener

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(NoRedirects)


def _reason(error: BaseException, seconds: float) -> str:
    """Why an address can't be reached, in words that have nothing of the address."""
    import socket
    import ssl

    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return f"no answer within {counted(round(seconds), 'second')}"
    if isinstance(cause, ConnectionRefusedError):
        return "refused the connection"
    if isinstance(cause, socket.gaierror):
        return "its host is not known"
    if isinstance(cause, ssl.SSLError):
        return "its certificate is not trusted"
    return "the connection broke"


def _escaped(text: str) -> str:
    """A text without what Slack takes for links, mentions and code."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("```", "'''")
