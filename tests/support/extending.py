"""An extender that says what a test tells it to, over real HTTP. Tests of ``kube/`` and ``app/`` use it.

Every verb is a function from the decoded request to the answer. Bayplan and kube-scheduler may ask the same one.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Answer = Callable[[dict[str, Any]], Any]


class Plain:
    """An answer that is not 200 and JSON."""

    def __init__(self, status: int = 200, body: bytes = b"") -> None:
        self.status = status
        self.body = body


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Callers that have gone are part of the tests."""


class ExtenderServer:
    """From ``with ExtenderServer(filter=…) as extender:`` to the end of the block."""

    def __init__(self, tls: ssl.SSLContext | None = None, **verbs: Answer) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """(verb, request), in the order they came."""
        self.headers: list[Mapping[str, str]] = []
        self._verbs = verbs
        self._server = _Server(("127.0.0.1", 0), self._handler())
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/extender"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def requests(self, verb: str, scheduler: str) -> list[dict[str, Any]]:
        """What one scheduler asked with a verb about pods of its own."""
        return [
            request
            for asked, request in self.asked
            if asked == verb and request["Pod"]["spec"]["schedulerName"] == scheduler
        ]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.removeprefix("/extender/")
                outer.asked.append((verb, request))
                outer.headers.append(dict(self.headers))
                answer = outer._verbs[verb](request)
                plain = answer if isinstance(answer, Plain) else Plain(200, json.dumps(answer).encode())
                self.send_response(plain.status)
                self.send_header("Content-Length", str(len(plain.body)))
                self.end_headers()
                self.wfile.write(plain.body)

            def log_message(self, *_: Any) -> None:
                return None

        return Handler
