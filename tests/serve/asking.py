"""What asks an application, as a browser does: it keeps cookies, and follows no redirect by itself."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from starlette.types import ASGIApp


class Client:
    """Asks an application at an address."""

    def __init__(self, app: ASGIApp, address: str) -> None:
        self._app, self._address, self._cookies = app, address, httpx.Cookies()

    def request(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Ask, and wait for the answer."""
        return asyncio.run(self._request(method, path, how))

    async def _request(self, method: str, path: str, how: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url=self._address, cookies=self._cookies) as client:
            answer = await client.request(method, path, **how)
            self._cookies = client.cookies
        return answer

    def get(self, path: str, **how: Any) -> httpx.Response:
        """Ask for a page."""
        return self.request("GET", path, **how)
