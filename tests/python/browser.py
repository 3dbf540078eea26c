"""Chromium without a window, told what to do over a pair of pipes; nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ["chromium", "chromium-browser", "google-chrome"]
MISSING = "no Chromium here: `apt-get install chromium` (Debian) makes this test run"
_PATIENCE_S = 60.0


def find() -> str | None:
    """The program, where there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One Chromium; each page is opened in a fresh tab.

    Parameters
    ----------
    program : str
        As :func:`find` gives it.
    folder : Path
        Where it may keep what it likes.
    """

    def __init__(self, program: str, folder: Path) -> None:
        told, self._tell = os.pipe()
        self._hear, hears = os.pipe()

        def wire() -> None:
            # Chromium reads commands from 3 and writes answers to 4; the first dup keeps a pipe that is on 3 itself.
            answers = os.dup(hears)
            os.dup2(told, 3)
            os.dup2(answers, 4)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        flags += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            [program, *flags],
            preexec_fn=wire,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(told)
        os.close(hears)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._tab = ""

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.call("Browser.close", tab=False)
        finally:
            os.close(self._tell)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            os.close(self._hear)

    def call(self, method: str, tab: bool = True, **params: Any) -> Any:
        """Send a command and wait for its answer; what happened meanwhile is in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if tab and self._tab:
            message["sessionId"] = self._tab
        os.write(self._tell, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _PATIENCE_S
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._hear], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._hear, 1 << 16) if ready else b""
            assert data, f"Chromium says nothing any more (exit code {self._process.poll()})"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]

    def open(self, page: Path, width: int, dark: bool = False, height: int = 900) -> None:
        """Open a page in a tab of its own, so many pixels wide, and wait until it is complete."""
        target = self.call("Target.createTarget", tab=False, url="about:blank")["targetId"]
        self._tab = self.call("Target.attachToTarget", tab=False, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        until = time.monotonic() + _PATIENCE_S
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next(until))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=key if len(key) == 1 else "")

    def complaints(self) -> list[str]:
        """What the page's console complained about since it was opened."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(str(params["entry"]))
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
        return found

    def requests(self) -> list[str]:
        """What was asked for since the page was opened."""
        return [
            str(e["params"]["request"]["url"]) for e in self.events if e.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A picture of the page, from its top to its end."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        more = {"clip": clip, "captureBeyondViewport": True} if whole else {}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"]))
