"""Who may ask what: foreign Host headers, other origins, tokens, and the headers of every answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.serve.app import application
from holdfast.serve.guard import Address
from holdfast.serve.live import Live
from tests.serve.asking import Client

TOKEN = "a-token-of-some-length"
PATHS = ["/", "/api/document", "/api/violations?rule=dc1", "/api/nothing"]


@pytest.fixture(scope="module")
def live(made: Path) -> Iterator[Live]:
    """A state that nobody changes."""
    served = Live(made)
    yield served
    served.close()


@pytest.fixture
def guarded(live: Live) -> Client:
    """A browser elsewhere, of a state that needs a token."""
    address = Address("10.0.0.7", 8765, frozenset({"10.0.0.7"}))
    return Client(application(live, address, TOKEN), "http://10.0.0.7:8765")


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "[::1]:8765"])
def test_own_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8766", "localhost"),
        *("127.0.0.1.evil.example:8765", "localhost.evil.example:8765", "", ":8765", "[::1]", "127.0.0.1:8765:8765"),
        *("127.0.0.1:08765", "localhost:8765 ", "x@127.0.0.1:8765", "2130706433:8765", "0.0.0.0:8765"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/document"])
def test_a_foreign_host_is_refused(client: Client, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 400
    assert "another address" in answer.json()["error"]


def test_two_hosts_are_refused(client: Client) -> None:
    answer = client.get("/", headers=[("Host", "127.0.0.1:8765"), ("Host", "evil.example")])
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        *((each, True) for each in ("10.0.0.7:8765", "127.0.0.1:9000", "[fe80::1]:8765", "localhost:9000")),
        *((each, False) for each in ("evil.example:8765", "evil.example", "10.0.0.7.evil.example:8765", "")),
    ],
)
def test_on_all_addresses_only_numbers_and_own_names_are_ours(host: str, ours: bool) -> None:
    assert Address("box", 8765, frozenset()).is_ours(host) is ours


def test_on_all_addresses_the_own_name_is_ours() -> None:
    assert Address("box", 8765, frozenset()).is_ours("box:8765")
    assert Address("127.0.0.1", 80).is_ours("localhost")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"])
@pytest.mark.parametrize("path", PATHS)
def test_it_is_read_only(client: Client, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_no_bodies_and_no_long_addresses(client: Client) -> None:
    assert client.request("GET", "/", content=b"x").status_code == 413
    assert client.request("GET", "/", headers={"Transfer-Encoding": "chunked"}).status_code == 413
    assert client.get(f"/api/violations?rule={'x' * 9000}").status_code == 414


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("refused", [False, True])
def test_every_answer_has_its_headers(client: Client, path: str, refused: bool) -> None:
    headers = {"Origin": "http://evil.example"} | ({"Host": "evil.example"} if refused else {})
    answer = client.get(path, headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    headers = {name: answer.headers[name] for name in ("cache-control", "x-frame-options", "x-content-type-options")}
    assert headers == {"cache-control": "no-store", "x-frame-options": "DENY", "x-content-type-options": "nosniff"}
    assert (
        answer.headers["cross-origin-resource-policy"] == answer.headers["cross-origin-opener-policy"] == "same-origin"
    )
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_pages_of_other_origins_learn_nothing(client: Client, site: str, status: int) -> None:
    assert client.get("/api/document", headers={"Sec-Fetch-Site": site}).status_code == status
    assert client.get("/", headers={"Sec-Fetch-Site": site}).status_code == 200  # a link may lead here


@pytest.mark.parametrize(
    ("origins", "status"),
    [
        *(([each], 200) for each in ("http://127.0.0.1:8765", "https://127.0.0.1:8765", "HTTP://127.0.0.1:8765")),
        *(([each], 403) for each in ("http://evil.example", "http://127.0.0.1:8766", "http://127.0.0.1", "null", "")),
        *(([each], 403) for each in ("http://localhost:8765", "file://", "http://127.0.0.1:8765.evil.example")),
        (["http://127.0.0.1:8765", "http://evil.example"], 403),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/document", "/api/violations?rule=dc1"])
def test_an_origin_that_is_not_ours_is_refused(client: Client, path: str, origins: list[str], status: int) -> None:
    """Also where a browser does not say of which site a request is."""
    answer = client.get(path, headers=[("Host", "127.0.0.1:8765"), *(("Origin", each) for each in origins)])
    assert answer.status_code == status
    assert status == 200 or answer.json() == {"error": "this server refuses pages of other origins"}


# ---- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": "holdfast-8765=wrong"},
        {"Cookie": f"other={TOKEN}"},
    ],
)
def test_nothing_is_served_without_the_token(guarded: Client, path: str, headers: dict[str, str]) -> None:
    answer = guarded.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text


def test_a_first_visit_takes_the_token_as_a_cookie(guarded: Client) -> None:
    assert guarded.get("/?token=wrong").status_code == 401
    answer = guarded.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("holdfast-8765=")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert guarded.get("/").status_code == 200
    assert guarded.get("/api/document").status_code == 200


def test_a_program_brings_the_token(guarded: Client) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/document", headers=headers).status_code == 200
    assert guarded.get("/api/document", headers={**headers, "Host": "evil.example:8765"}).status_code == 400
    assert guarded.get(f"/api/document?token={TOKEN}").status_code == 401  # an address of data is no place for it
