"""The server of a state, which runs until someone stops it."""

from __future__ import annotations

import ctypes
import logging
import secrets
import socket
import threading
import webbrowser
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from string import ascii_letters, digits

import uvicorn

from holdfast.errors import BadInput
from holdfast.report.terminal import say
from holdfast.serve.app import application
from holdfast.serve.guard import LOOPBACK, Address
from holdfast.serve.live import Live

_MMAP_THRESHOLD, _ARENAS = -3, -8  # M_MMAP_THRESHOLD and M_ARENA_MAX of malloc.h
_SHORTEST_TOKEN = 16
_TOKEN_LETTERS = frozenset(ascii_letters + digits + "-_.~")  # what stands in an address as it is


def serve(state: Path, host: str, port: int, token: str | None, *, open_browser: bool = False) -> None:
    """Serve a state until Ctrl-C, and say where."""
    if token is not None:
        _refuse_weak(token)
    with listening(host, port) as bound:
        address, is_private = address_of(host, bound)
        if token is None and not is_private:
            token = secrets.token_urlsafe()
        _give_memory_back()
        live = Live(state)
        try:
            visit = address.url + (f"?token={token}" if token else "")
            say(f"Serving {state} at {visit}; stop with Ctrl-C.")
            if open_browser:
                threading.Thread(target=webbrowser.open, args=(visit,), daemon=True).start()
            _run(live, address, token, bound)
        finally:
            live.close()


def _run(live: Live, address: Address, token: str | None, bound: socket.socket) -> None:
    config = uvicorn.Config(
        application(live, address, token),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    _log_errors()
    live.start()
    _Server(config, live).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that ends the streams of news when it ends, for they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._live.hush()
        await super().shutdown(sockets)


def _give_memory_back() -> None:
    """Give freed memory back to the system: the C library of Linux holds freed arrays below 32 MB, and much for each
    thread, so a server would hold the memory of its largest moment.
    """
    with suppress(OSError, AttributeError):  # other systems have other libraries
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 1 << 18)
        library.mallopt(_ARENAS, 2)


def _log_errors() -> None:
    """Log our own errors with their traceback, and not those of clients."""
    for name in ("uvicorn.error", "holdfast.serve"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.addHandler(logging.StreamHandler())
        logger.propagate = False


def _refuse_weak(token: str) -> None:
    if len(token) < _SHORTEST_TOKEN or not _TOKEN_LETTERS.issuperset(token):
        allowed = f"at least {_SHORTEST_TOKEN} letters, digits or any of - _ . ~"
        raise BadInput(f"--token: give {allowed}; or leave it out, and Holdfast makes one")


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at a port of this machine; 0: at any that is free."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.create_server(place[:2], family=family)
        # The server sends small pieces without delay only where a socket says that it is TCP.
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except socket.gaierror:
        raise BadInput(f"--host {host}: no such address; give one of this machine, such as 127.0.0.1") from None
    except OverflowError:
        raise BadInput(f"--port {port}: give a number up to 65535, or 0 for any port that is free") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        hint = "choose another --port (0: any that is free) or --host"
        raise BadInput(f"{host}:{port} can't be served: {why}; {hint}") from None


def address_of(host: str, bound: socket.socket) -> tuple[Address, bool]:
    """Where pages are served, and whether this machine alone can ask for them."""
    numbers, port = bound.getsockname()[:2]
    place = ip_address(numbers.partition("%")[0])
    if place.is_unspecified:  # all addresses of this machine, which has names that we don't know
        return Address(socket.gethostname(), port, frozenset()), False
    own = frozenset({host.lower(), numbers.lower()})
    return Address(host, port, own | LOOPBACK if place.is_loopback else own), place.is_loopback
