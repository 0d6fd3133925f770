"""A page in Chromium, with everything that it asked for and complained about."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect


class OpenedPage:
    def __init__(self, browser: Browser, address: str, *, width: int = 1280, dark: bool = False) -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 600 else 800},
            color_scheme="dark" if dark else "light",
            has_touch=width < 600,
        )
        self.page: Page = self._context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._home = address
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def elsewhere(self) -> list[str]:
        """Requests that left the page's own server, or its file."""
        home = self._home.partition("#")[0].rpartition("/")[0]
        return [url for url in self.requests if not url.startswith((home, "data:"))]

    def go(self, route: str) -> None:
        self.page.evaluate("route => { location.hash = route }", f"#/{route}")

    def sees(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text)

    def close(self) -> None:
        self._context.close()
