"""What is served: the page, and under /api the document, pages of violations, and events of batches (see `events`)."""

from __future__ import annotations

import gzip
import re
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from holdfast.errors import BadInput, HoldfastError
from holdfast.report.bundle import html_shell, live_policy
from holdfast.serve.events import BatchEvents
from holdfast.serve.guard import Address, Guard, refusal
from holdfast.serve.live import Live

_MOST = 200  # violations in one answer


def application(live: Live, address: Address, token: str | None = None) -> ASGIApp:
    """The application that serves a state at an address."""
    served = _Served(live)
    routes = [
        Route("/", served.page),
        Route("/api/document", served.document),
        Route("/api/violations", served.violations),
        Route("/api/events", BatchEvents(live).answer),
    ]
    errors: dict[Any, Any] = {HTTPException: _not_there, HoldfastError: _trouble}
    return Guard(Starlette(routes=routes, exception_handlers=errors), address, token)


async def _not_there(request: Request, error: HTTPException) -> Response:
    return refusal(error.status_code, f"there is nothing at {request.url.path}")


async def _trouble(_: Request, error: HoldfastError) -> Response:
    return refusal(503, str(error))


class _Served:
    """The answers."""

    def __init__(self, live: Live) -> None:
        self._live = live

    async def page(self, _: Request) -> Response:
        """The page without data, which its script loads."""
        policy = f"{live_policy()}; frame-ancestors 'none'"
        return HTMLResponse(html_shell(str(self._live.path)), headers={"Content-Security-Policy": policy})

    async def document(self, request: Request) -> Response:
        """All that the page shows; nothing if the reader has it already."""
        if self._live.tag() in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={"ETag": self._live.tag()})
        packed = await run_in_threadpool(self._live.document)
        headers = {"ETag": packed.tag, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"], content = "gzip", packed.content
        else:
            content = await run_in_threadpool(gzip.decompress, packed.content)
        return Response(content, headers=headers, media_type="application/json")

    async def violations(self, request: Request) -> Response:
        """Some violations of a rule, from a number on."""
        wanted = request.query_params
        if not (rule := wanted.get("rule")):
            return refusal(400, "name a rule: /api/violations?rule=NAME&from=0&count=50")
        numbers = {"from": wanted.get("from", "0"), "count": wanted.get("count", "50")}
        for name, word in numbers.items():
            if not re.fullmatch("[0-9]{1,15}", word):
                return refusal(400, f"{name}={word}: give a whole number from 0 on")
        first, count = map(int, numbers.values())
        try:
            page = await run_in_threadpool(self._live.page_of_violations, rule, first, min(count, _MOST))
        except BadInput as error:
            return refusal(404, str(error))
        return JSONResponse(page)
