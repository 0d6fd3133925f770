"""A small server that stands for `bayplan ui`: the page's files with their policy, and a stream that a test feeds."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

PAGE = Path(__file__).resolve().parents[2] / "src" / "bayplan" / "view" / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}


class PageServer:
    """Each stream begins with the view as it is, then gets what `send` is given. `drop` breaks all streams."""

    def __init__(self, view: dict[str, Any], *, token: str = "", pods: dict[str, Any] | None = None) -> None:
        self.view = view
        self.token = token
        self.pods = pods or {}
        self.away = False
        self.seq = 1
        self._streams: list[queue.SimpleQueue[bytes | None]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: Any) -> None:
                """Requests are seen from the browser's side."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def send(self, **fields: Any) -> None:
        self.seq += 1
        for stream in self._streams:
            stream.put(json.dumps({"seq": self.seq, **fields}).encode() + b"\n")

    def drop(self) -> None:
        for stream in self._streams:
            stream.put(None)
        self._streams.clear()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        if not path.startswith("/api/"):
            return _send_file(request, PAGE / (path.strip("/") or "index.html"))
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return _send(request, 401, b'{"message": "the token is not known"}')
        if self.away:
            return _send(request, 503, b"{}")
        if path == "/api/stream":
            return self._stream(request)
        page = self._pod(*(unquote(part) for part in path.removeprefix("/api/pod/").split("/")))
        return _send(request, 200 if page else 404, json.dumps(page).encode())

    def _pod(self, namespace: str, name: str) -> dict[str, Any] | None:
        """The page that a test gave for it, or the one that it gave for all others."""
        page = self.pods.get(f"{namespace}/{name}") or self.pods.get("*")
        return page and {**page, "namespace": namespace, "name": name}

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        lines.put(json.dumps({"seq": self.seq, "view": self.view}).encode() + b"\n")
        self._streams.append(lines)
        request.send_response(200)
        request.send_header("Content-Type", "application/x-ndjson")
        request.end_headers()
        while (line := lines.get()) is not None:
            try:
                request.wfile.write(line)
            except OSError:
                return
        request.close_connection = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()
        self._server.shutdown()
        self._server.server_close()


def _send_file(request: BaseHTTPRequestHandler, path: Path) -> None:
    if not path.is_relative_to(PAGE) or not path.is_file():
        return _send(request, 404, b"")
    return _send(request, 200, path.read_bytes(), KINDS[path.suffix])


def _send(request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "application/json") -> None:
    request.send_response(status)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(body)))
    request.send_header("Content-Security-Policy", POLICY)
    request.end_headers()
    request.wfile.write(body)
