"""A headless Chromium, driven over its own pipe by nothing but Python: pages, clicks, keys, what they print and ask for."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent.parent))
import cli
from configure import BROWSERS

SECONDS = 120  # for an answer, on a busy host


def find():
    """Chromium's path, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def main(page, missing=None):
    """Runs the tests, whose one browser `page` (with functools.cache) has; or says what is missing for them."""
    missing = missing if find() else "no Chromium"
    if missing:
        print(f"ok 1 # SKIP {missing}")
        return
    try:
        cli.main()
    finally:
        if page.cache_info().currsize:
            page().close()


class Browser:
    """One page of one browser. What it prints as an error and what it asks a network for is kept."""

    def __init__(self, width=1280, height=800, mobile=False):
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        to_child, self.writer = os.pipe()
        self.reader, from_child = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
                 "--disable-extensions", "--hide-scrollbars", f"--user-data-dir={self.folder}"]

        def move():  # the pipe's ends must be 3 and 4
            reader, writer = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child))
            os.dup2(reader, 3)
            os.dup2(writer, 4)

        self.child = subprocess.Popen([find(), *flags, "about:blank"], preexec_fn=move, pass_fds=(3, 4),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.number, self.rest, self.session = 0, b"", None
        self.errors, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height, mobile)

    def close(self):
        """Ends the browser."""
        self.child.terminate()
        self.child.wait(timeout=SECONDS)
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- The pipe ----

    def receive(self, seconds):
        """The next message, or None after so many seconds."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.reader], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self.reader, 1 << 16)
            if not piece:
                raise RuntimeError("chromium ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Keeps what an event tells."""
        method, values = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.errors.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])

    def call(self, method, timeout=SECONDS, **values):
        """One command of the protocol; its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            found = self.receive(timeout)
            if found is None:
                raise TimeoutError(method)
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self.note(found)

    # ---- The page ----

    def resize(self, width, height, mobile=False):
        """The size of the window."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        """"light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url):
        """Loads a page and waits for it."""
        self.loaded = False
        self.call("Page.navigate", url=url)
        end = time.monotonic() + SECONDS
        while not self.loaded and time.monotonic() < end:
            message = self.receive(1)
            if message:
                self.note(message)

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", str(found["exceptionDetails"])))
        return found["result"].get("value")

    def wait(self, script, seconds=SECONDS):
        """Until an expression is true; its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def center(self, selector):
        """Where an element is, after it was brought into view."""
        box = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
                       "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        return {"x": box[0], "y": box[1]}

    def point(self, selector):
        """The mouse over an element."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **self.center(selector))

    def click(self, selector):
        """A click on an element."""
        place = self.center(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left" if kind != "mouseMoved" else "none", clickCount=1, **place)

    def drag(self, selector, right):
        """The mouse pressed on an element, moved to the right, released."""
        place = self.center(selector)
        self.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **place)
        for step in range(1, 5):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", x=place["x"] + right * step / 4, y=place["y"])
        self.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, x=place["x"] + right, y=place["y"])

    def key(self, name, modifiers=0):
        """A key, by its name: "ArrowDown", "Enter", "Tab"."""
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32}
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes[name], modifiers=modifiers)

    def type(self, text):
        """Text into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=False):
        """A screenshot as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(found["data"]))
