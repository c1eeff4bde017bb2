"""The events that a live page hears: one for each batch, sent as long as the page listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from holdfast.serve.guard import refusal
from holdfast.serve.live import Live

_MOST_STREAMS = 200
_SILENCE = 15.0  # seconds after which a comment shows that the connection stands
_KIND = "text/event-stream"


class BatchEvents:
    """Streams of events about the batches of a state."""

    def __init__(self, live: Live) -> None:
        self._live, self._streams = live, 0

    async def answer(self, request: Request) -> Response:
        """A stream of events for one page."""
        if request.method == "HEAD":
            return Response(media_type=_KIND)
        if self._streams >= _MOST_STREAMS:
            return refusal(503, "too many pages are open; close some")
        known = request.headers.get("last-event-id") or request.query_params.get("since", "")
        return StreamingResponse(self._stream(known), media_type=_KIND)

    async def _stream(self, known: str) -> AsyncIterator[str]:
        """Events as they come; at once if the reader knows an older batch than the last one."""
        heard: asyncio.Queue[int | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        ignore = self._live.listen(lambda seq: _pass_on(loop, heard, seq))
        self._streams += 1
        try:
            yield "retry: 2000\n: this page follows the state\n\n"
            if known.isdecimal() and known != str(self._live.seq):
                yield _event(self._live.seq)
            while True:
                try:
                    seq = await asyncio.wait_for(heard.get(), _SILENCE)
                except TimeoutError:
                    yield ": nothing new\n\n"
                    continue
                if seq is None:
                    return
                yield _event(seq)
        finally:
            ignore()
            self._streams -= 1


def _pass_on(loop: asyncio.AbstractEventLoop, heard: asyncio.Queue[int | None], seq: int | None) -> None:
    """Pass on the event of another thread."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(heard.put_nowait, seq)


def _event(seq: int) -> str:
    return f'id: {seq}\nevent: batch\ndata: {{"seq": {seq}}}\n\n'
