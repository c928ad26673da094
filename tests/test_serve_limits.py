"""Who is let in, how much a server takes, and what becomes of a client that leaves."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

import tagsmith
from fake_upstream import (
    FOREVER,
    FakeUpstream,
    Reply,
    fake_upstream,
    mounted,
    piece,
    running,
    saying,
    settings_for,
    until,
)
from tagsmith.serve import Limits, Settings, Upstream, create_app
from tagsmith.serve.listen import LOOPBACK_NAMES

FAMILY = tagsmith.get_family("cohere-command-a")
KEYS = ("first-key-of-two", "schlüssel-zwei")
SECRET = "upstream-secret-key"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Where is the treasure?"}]}
PATHS = {"chat": "/v1/chat/completions", "cohere": "/v2/chat"}
apis = pytest.mark.parametrize("api", PATHS)
ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])

SERVERS: dict[str, dict[str, Any]] = {
    "/open": {"max_body_bytes": 2000},
    "/hasty": {"body_timeout": 0.2},
    "/narrow": {"max_generations": 2},
    "/locked": {"api_keys": KEYS},
    "/local": {"trusted_hosts": LOOPBACK_NAMES},
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with fake_upstream() as fake:
        yield fake


@pytest.fixture(scope="module")
def servers(upstream: FakeUpstream) -> Iterator[str]:
    apps = {
        path: create_app(
            settings_for(
                FAMILY,
                upstream.url,
                key=SECRET,
                chat_template="{{ messages[-1].content }}<|CHATBOT_TOKEN|>",
                **options,
            )
        )
        for path, options in SERVERS.items()
    }
    with running(mounted(apps)) as address:
        yield address


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=10) as client:
        yield client


@pytest.fixture(autouse=True)
def answering(upstream: FakeUpstream) -> None:
    upstream.reply = lambda _: saying("<|START_RESPONSE|>Hi<|END_RESPONSE|>")


def problem(response: httpx2.Response, api: str) -> str:
    body = response.json()
    assert set(body) == ({"error"} if api == "chat" else {"id", "message"})
    return str(body["error"]["message"] if api == "chat" else body["message"])


# Bodies.

BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "no JSON"),
    "no JSON": (b"{", 400, "no JSON"),
    "no object": (b"[]", 400, "no JSON object"),
    "no UTF-8": (b'{"model": "\xff"}', 400, "no JSON in UTF-8"),
    "half a character": (b'{"model": "\\ud800"}', 400, "no JSON in UTF-8"),
    "no number": (b'{"model": "m", "temperature": NaN}', 400, "NaN is no number of JSON"),
    "huge number": (b'{"seed": ' + b"9" * 1900 + b"}", 400, ""),
    "deep": (b"[" * 1900, 400, ""),
    "too long": (b" " * 2001, 413, "longer than 2000 bytes"),
    "no model": (b'{"messages": []}', 400, "model: is missing"),
    "another model": (
        json.dumps({**ASKED, "model": "gpt"}).encode(),
        404,
        "there is no model 'gpt'; this server serves 'm'",
    ),
    "no messages": (b'{"model": "m"}', 400, "messages: must be a list of one message or more"),
    "odd messages": (b'{"model": "m", "messages": [5]}', 400, "messages: message 0"),
}
JSON = {"content-type": "application/json"}


@apis
@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_cannot_be_read(servers: str, http: httpx2.Client, api: str, case: str) -> None:
    body, status, text = BODIES[case]
    response = http.post(f"{servers}/open{PATHS[api]}", content=body, headers=JSON)
    assert response.status_code == status
    assert text in problem(response, api)


@apis
def test_a_long_body_is_refused_before_its_end(servers: str, api: str) -> None:
    """Also one that does not say how long it is."""
    with connected(servers) as sock:
        head = f"POST /open{PATHS[api]} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        sock.sendall(f"{head}transfer-encoding: chunked\r\n\r\n".encode())
        sock.sendall(b"800\r\n" + b" " * 2048 + b"\r\n")
        answer = sock.recv(9000).decode()
    assert answer.startswith("HTTP/1.1 413")
    assert "connection: close" in answer.lower()


def test_a_body_that_does_not_come(servers: str) -> None:
    with connected(servers) as sock:
        head = "POST /hasty/v2/chat HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        sock.sendall(f"{head}content-length: 50\r\n\r\n{{".encode())
        assert sock.recv(9000).startswith(b"HTTP/1.1 408")


@apis
@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type(servers: str, http: httpx2.Client, api: str, kind: str) -> None:
    headers = {} if kind is None else {"content-type": kind}
    response = http.post(f"{servers}/open{PATHS[api]}", content=b"{}", headers=headers)
    assert response.status_code == 415
    assert "application/json" in problem(response, api)


# Paths.


@pytest.mark.parametrize(
    ("method", "path", "status", "api"),
    [
        ("GET", "/v1/chat/completions", 405, "chat"),
        ("DELETE", "/v2/chat", 405, "cohere"),
        ("POST", "/v1/models", 405, "chat"),
        ("GET", "/v1/nothing", 404, "chat"),
        ("POST", "/v2/embed", 404, "cohere"),
        ("GET", "/v1/models/other", 404, "chat"),
        ("GET", "/", 404, "chat"),
    ],
)
def test_what_there_is_not(
    servers: str, http: httpx2.Client, method: str, path: str, status: int, api: str
) -> None:
    response = http.request(method, f"{servers}/open{path}")
    assert response.status_code == status
    assert "there is no" in problem(response, api)
    assert ("allow" in response.headers) == (status == 405)


def test_models_and_health(servers: str, http: httpx2.Client) -> None:
    listed = http.get(f"{servers}/open/v1/models").json()
    assert [model["id"] for model in listed["data"]] == ["m"]
    assert http.get(f"{servers}/open/v1/models/m").json()["owned_by"] == "tagsmith"
    assert http.get(f"{servers}/locked/health").json()["status"] == "ok"


# Keys and names.


@apis
@pytest.mark.parametrize(
    ("given", "status"),
    [
        (None, 401),
        ("", 401),
        (f"Basic {KEYS[0]}", 401),
        ("Bearer", 401),
        ("Bearer wrong", 401),
        (f"Bearer {KEYS[0]}x", 401),
        (f"Bearer {KEYS[0]}", 200),
        (f"bearer  {KEYS[0]}", 200),
        (f"Bearer {KEYS[1]}", 200),
    ],
)
def test_keys(servers: str, http: httpx2.Client, api: str, given: str | None, status: int) -> None:
    headers = {} if given is None else {"authorization": given.encode()}
    response = http.post(f"{servers}/locked{PATHS[api]}", json=ASKED, headers=headers)
    assert response.status_code == status
    if status == 401:
        assert response.headers["www-authenticate"] == "Bearer"
        assert "API key" in problem(response, api)
    assert KEYS[0] not in response.text


def test_models_need_a_key(servers: str, http: httpx2.Client) -> None:
    assert http.get(f"{servers}/locked/v1/models").status_code == 401


def test_the_upstream_gets_its_own_key(
    upstream: FakeUpstream, servers: str, http: httpx2.Client
) -> None:
    headers = {"authorization": f"Bearer {KEYS[0]}"}
    http.post(f"{servers}/locked/v1/chat/completions", json=ASKED, headers=headers)
    assert upstream.headers[-1]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8100", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("evil.example", 403),
        ("localhost.evil.example:8100", 403),
    ],
)
def test_a_page_cannot_give_this_machine_a_name_of_its_own(
    servers: str, http: httpx2.Client, host: str, status: int
) -> None:
    response = http.get(f"{servers}/local/v1/models", headers={"host": host})
    assert response.status_code == status


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v2/chat/", "/health/"])
def test_no_redirect_goes_where_a_header_says(servers: str, http: httpx2.Client, path: str) -> None:
    answer = http.request("POST", f"{servers}/open{path}", json=ASKED, headers={"host": "evil"})
    assert answer.status_code == 404


HEADS: dict[str, list[bytes]] = {
    "nothing": [],
    "half a head": [b"POST /v2/chat HTTP/1.1\r\n"],
    "half of a second head": [b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n", b"GET /"],
    "a head without end": [b"GET / HTTP/1.1\r\n", *[b"x: y\r\n"] * 8],
}


def test_a_head_that_does_not_come() -> None:
    """Nobody keeps a connection without asking for anything."""
    app = create_app(settings_for(FAMILY))
    with running(app, head_timeout=0.2) as url, ThreadPoolExecutor(4) as pool:

        def closed(parts: list[bytes]) -> bool:
            with connected(url) as sock:
                try:
                    for part in parts:
                        sock.sendall(part)
                        time.sleep(0.1)
                    while sock.recv(9000):
                        pass
                except ConnectionError:
                    return True
                return True

        assert all(pool.map(closed, HEADS.values()))


# Places.


def test_no_more_generations_than_places(
    upstream: FakeUpstream, servers: str, http: httpx2.Client
) -> None:
    upstream.reply = lambda _: Reply([piece("<|START_RESPONSE|>Hi"), FOREVER])
    url = f"{servers}/narrow/v1/chat/completions"
    health = f"{servers}/narrow/health"
    body = {**ASKED, "stream": True}
    with http.stream("POST", url, json=body), http.stream("POST", url, json=body):
        assert http.get(health).json()["generations"] == 2
        response = http.post(url, json=ASKED)
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        assert "all 2 places" in problem(response, "chat")
    until(lambda: http.get(health).json()["generations"] == 0)
    answering_again = saying("<|START_RESPONSE|>Hi")
    upstream.reply = lambda _: answering_again
    assert http.post(url, json=ASKED).status_code == 200


# Clients that leave.


class connected:  # noqa: N801
    """A bare connection, closed at the end whatever is still on its way."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.sock = socket.create_connection((parts.hostname or "", parts.port or 0), 5)

    def __enter__(self) -> socket.socket:
        return self.sock

    def __exit__(self, *_: object) -> None:
        self.sock.close()


def post(sock: socket.socket, path: str, body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    sock.sendall(f"{head}content-length: {len(raw)}\r\n\r\n".encode() + raw)


@apis
@ways
@pytest.mark.parametrize("begun", [False, True], ids=["before the first frame", "after it"])
def test_a_client_that_leaves_ends_the_upstreams_work(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, api: str, stream: bool, begun: bool
) -> None:
    first = [piece("<|START_RESPONSE|>Hi")] if begun else []
    upstream.reply = lambda _: Reply([*first, FOREVER])
    asked, left = len(upstream.requests), len(upstream.left)
    with connected(servers) as sock:
        post(sock, f"/open{PATHS[api]}", {**ASKED, "stream": stream})
        until(lambda: len(upstream.requests) > asked)
        if stream and begun:
            assert sock.recv(9000).startswith(b"HTTP/1.1 200")
    gone = time.monotonic()
    until(lambda: len(upstream.left) > left)
    assert upstream.left[-1] - gone < 1
    until(lambda: http.get(f"{servers}/open/health").json()["generations"] == 0)


@ways
@pytest.mark.heavy
def test_a_client_that_does_not_read_is_not_waited_for(
    upstream: FakeUpstream, http: httpx2.Client, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its generation ends in time, and so does the upstream's work."""
    monkeypatch.setattr("tagsmith.serve.exchange.FAREWELL_TIMEOUT", 0.2)
    chunk = piece("x" * 50_000)
    steps = [piece("<|START_RESPONSE|>"), *[chunk] * 400, piece("", finish="stop")]
    upstream.reply = lambda _: Reply(steps)
    settings = settings_for(
        FAMILY,
        upstream.url,
        chat_template="<|CHATBOT_TOKEN|>",
        generation_timeout=1.5,
        max_output_chars=1 << 30,
    )
    with running(create_app(settings)) as url, connected(url) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        post(sock, "/v1/chat/completions", {**ASKED, "stream": stream})
        health = f"{url}/health"
        until(lambda: http.get(health).json()["generations"] == 1)
        assert until(lambda: upstream.open == 0, 5) < 4
        assert until(lambda: http.get(health).json()["generations"] == 0, 9) < 8


def test_many_at_once_do_not_mix(upstream: FakeUpstream, servers: str, http: httpx2.Client) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        word = body["prompt"].partition("<|")[0]
        steps: list[bytes | float] = [piece("<|START_RESPONSE|>")]
        for letter in word:
            steps += [piece(letter), 0.002]
        return Reply([*steps, piece("", finish="stop")])

    def ask(number: int) -> tuple[str, str]:
        word = f"word-{number}-" * 5 + "end"
        body = {"model": "m", "messages": [{"role": "user", "content": word}]}
        if number % 2:
            answer = http.post(f"{servers}/open/v2/chat", json=body).json()
            return word, answer["message"]["content"][0]["text"]
        answer = http.post(f"{servers}/open/v1/chat/completions", json=body).json()
        return word, answer["choices"][0]["message"]["content"]

    upstream.reply = reply
    with ThreadPoolExecutor(16) as pool:
        for word, said in pool.map(ask, range(16)):
            assert said == word


@pytest.mark.heavy
def test_who_is_left_when_the_server_stops_is_told(upstream: FakeUpstream) -> None:
    upstream.reply = lambda _: Reply([piece("<|START_RESPONSE|>Hi"), FOREVER])
    app = create_app(settings_for(FAMILY, upstream.url))
    asked = [(api, stream) for api in PATHS for stream in (False, True)]
    with ThreadPoolExecutor(4) as pool:
        with running(app) as url:
            answers = [
                pool.submit(
                    httpx2.post, url + PATHS[api], json={**ASKED, "stream": stream}, timeout=10
                )
                for api, stream in asked
            ]
            until(lambda: httpx2.get(f"{url}/health").json()["generations"] == 4)
        told = [answer.result(5) for answer in answers]
    for (api, stream), answer in zip(asked, told, strict=True):
        assert answer.status_code == (200 if stream else 503)
        assert "the server is being stopped" in answer.text
        if not stream:
            problem(answer, api)
        elif api == "cohere":
            assert '"finish_reason":"ERROR"' in answer.text
            assert answer.text.endswith("data: [DONE]\n\n")
    until(lambda: upstream.open == 0)


# Faults and logs.


@apis
def test_a_fault_tells_nothing(
    servers: str,
    http: httpx2.Client,
    api: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object) -> None:
        raise LookupError("Where is the treasure? /srv/secret")

    monkeypatch.setattr("tagsmith.serve.prepare.choose_tag", broken)
    with caplog.at_level(logging.INFO, "tagsmith.serve"):
        response = http.post(f"{servers}/open{PATHS[api]}", json=ASKED)
        until(lambda: "500" in caplog.text)
    assert response.status_code == 500
    assert problem(response, api) == "the server has failed; its log says where"
    assert "a fault, LookupError, at test_serve_limits:" in caplog.text
    assert "treasure" not in caplog.text


def test_logs_hold_neither_keys_nor_what_was_said(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.reply = lambda _: saying("<|START_RESPONSE|>Under the <co>old oak</co: 0:[0]>")
    headers = {"authorization": f"Bearer {KEYS[0]}"}
    with caplog.at_level(logging.DEBUG):
        for path in PATHS.values():
            url = f"{servers}/locked{path}"
            for body in (ASKED, {**ASKED, "stream": True}, {**ASKED, "n": "treasure"}):
                http.post(url, json=body, headers=headers)
            http.post(f"{url}?key={KEYS[0]}", json=ASKED, headers={"authorization": "Bearer oak"})
        upstream.reply = lambda _: Reply([b"data: treasure\n\n"])
        http.post(url, json=ASKED, headers=headers)
        until(lambda: "/v2/chat 502 upstream_failed" in caplog.text)
    # What the client of this test logs, and what the server does not show, is not ours.
    logs = ("tagsmith.serve", "uvicorn.error")
    ours = [record.getMessage() for record in caplog.records if record.name in logs]
    logged = "\n".join(ours)
    assert logged.count("/v2/chat 200 done") == 2
    assert "/v2/chat 401 authentication_error" in logged
    for word in ("treasure", "oak", *KEYS, SECRET):
        assert word not in logged
    assert SECRET not in caplog.text


def test_settings_do_not_show_secrets() -> None:
    upstream = Upstream("http://127.0.0.1:1", "vllm", "m", key=SECRET)
    settings = Settings(FAMILY, "m", upstream, api_keys=KEYS)
    for word in (*KEYS, SECRET):
        assert word not in repr(settings)


@pytest.mark.parametrize("name", Limits.__dataclass_fields__)
def test_limits_are_above_nothing(name: str) -> None:
    with pytest.raises(tagsmith.RequestError, match=f"^{name}: must be above 0"):
        Limits(**{name: 0})
