"""Access control: every request is checked here before anything else sees it, and every answer gets its headers.

A page of another origin must learn nothing: it gets no CORS header, may not embed an answer, and if it maps its own
name to our address (DNS rebinding), its name is in the Host header, which is refused. On an address that others can
reach, every request needs a token.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_LONGEST_QUERY = 8_000  # bytes
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Address:
    """Where pages are served, and under which names a browser may ask for them."""

    host: str  # as people call it
    port: int
    names: frozenset[str] = LOOPBACK  # none: all of this machine's

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this address."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "80")
        name = name.removeprefix("[").removesuffix("]").lower()
        if not self.names:  # any address of this machine, which its port may be mapped to
            return name in ("localhost", self.host.lower()) or _in_numbers(name)
        return name in self.names and port == str(self.port)

    @property
    def url(self) -> str:
        """What a browser opens."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/"


def _in_numbers(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Lets requests through to the application, or answers them itself."""

    def __init__(self, app: ASGIApp, address: Address, token: str | None) -> None:
        self._app, self._address, self._token = app, address, token
        self._cookie = f"holdfast-{address.port}"  # a browser sends cookies to all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":  # nothing else is served
            raise NotImplementedError(f"{scope['type']} is not served")
        answer = self._refusal(Request(scope))
        await (answer or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that may not pass."""
        checks = (self._wrong_host, _wrong_form, _other_origin, self._wrong_token)
        return next(filter(None, (check(request) for check in checks)), None)

    def _wrong_host(self, request: Request) -> Response | None:
        hosts = request.headers.getlist("host")
        if len(hosts) == 1 and self._address.is_ours(hosts[0]):
            return None
        return refusal(400, "this server has another address; use the one that holdfast serve printed")

    def _wrong_token(self, request: Request) -> Response | None:
        """The first request has the token in its address, and gets a cookie with it."""
        if self._token is None:
            return None
        if request.url.path == "/" and (given := request.query_params.get("token")) is not None:
            if not self._is_token(given):
                return refusal(401, "this token is wrong; open the address that holdfast serve printed")
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
            return answer
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if self._is_token(given if scheme.lower() == "bearer" else request.cookies.get(self._cookie, "")):
            return None
        return refusal(401, "a token is needed; open the address that holdfast serve printed", "Bearer")

    def _is_token(self, given: str) -> bool:
        assert self._token is not None
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def _wrong_form(request: Request) -> Response | None:
    if request.method not in ("GET", "HEAD"):
        return refusal(405, "this server is read-only: use GET or HEAD")
    if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
        return refusal(413, "this server takes no body: leave it out")
    if len(request.scope.get("query_string", b"")) > _LONGEST_QUERY:
        return refusal(414, "the address is too long")
    return None


def _other_origin(request: Request) -> Response | None:
    """Browsers say where a request comes from: pages of other origins, or of other ports here, are refused. But a link
    may lead to the page from anywhere: browsers name no origin then.
    """
    own = {f"{scheme}://{request.headers['host'].lower()}" for scheme in ("http", "https")}  # a proxy may have TLS
    from_here = all(origin.lower() in own for origin in request.headers.getlist("origin"))
    by_link = not request.url.path.startswith("/api")
    if from_here and (by_link or request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")):
        return None
    return refusal(403, "this server refuses pages of other origins")


def refusal(status: int, sentence: str, scheme: str = "") -> Response:
    """An answer that says what is wrong."""
    headers = {"WWW-Authenticate": scheme} if scheme else {}
    if status == 405:
        headers["Allow"] = "GET, HEAD"
    return JSONResponse({"error": sentence}, status, headers)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
