"""A real headless Chromium: it shows pages of runs, and what `creval play --web` serves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["PATIENCE", "Player", "headless_chromium", "players", "screen", "until"]

PATIENCE = 60
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1360,860",
)  # fmt: skip


def headless_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a browser, for a fixture; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no Chromium with chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    # A headless window has the focus only sometimes.
    started.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield started
    started.quit()


@contextmanager
def screen(browser: Any, width: int) -> Iterator[None]:
    """Let the browser's screen be so wide, that of a phone below 600 pixels."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def until(browser: Any, script: str) -> Any:
    """Wait until a JavaScript expression is true on the page, and return its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := browser.execute_script(f"return {script}"):
            return found
        time.sleep(0.05)
    page = browser.execute_script("return document.body.innerText.slice(0, 2000)")
    pytest.fail(f"never true: {script}\n{page}\n{browser.get_log('browser')}")


class Player:
    """A run of `creval play --web`, and the page that the browser shows of it."""

    def __init__(self, browser: Any, folder: Path, *arguments: str) -> None:
        self.browser = browser
        self.run = folder / "run"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "creval", "play", *arguments, "--web", "--show-results"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w.-]+/", line)
        assert found, line
        self.url = found[0]
        browser.get(self.url)
        self.until(lambda: self.all("input[name=choice]"))

    def all(self, css: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", css))

    def text(self, css: str) -> str:
        return str(self.all(css)[0].text)

    def until(self, true: Any) -> Any:
        """Wait until something is true; where it never is, say what the page and the run show instead."""
        from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        wait = WebDriverWait(self.browser, PATIENCE, 0.05, (StaleElementReferenceException,))
        try:
            return wait.until(lambda _: true())
        except TimeoutException:
            ended = self.process.poll()
            reported = "still running" if ended is None else f"ended with {ended}: {self.process.communicate()}"
            page = self.browser.execute_script("return document.body.innerText")
            pytest.fail(f"waited in vain. The run: {reported}. The page:\n{page}\n{self.browser.get_log('browser')}")

    def until_closing(self) -> None:
        self.until(lambda: self.all("#closing:not([hidden])"))

    def choose(self, name: str) -> None:
        """Choose by mouse and send."""
        next(label for label in self.all(".options label") if label.text.split("\n")[0] == name).click()
        self.all("#send")[0].click()

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def steps(self) -> list[str]:
        return [item.text for item in self.all("#past-list li")]

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


def players(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Yield what starts a run for a person to play, for a fixture; runs that did not end are ended."""
    started: list[Player] = []

    def start(*arguments: str) -> Player:
        started.append(Player(browser, tmp_path, *arguments))
        return started[-1]

    yield start
    browser.get("about:blank")  # the page of a run that has ended would go on asking for it
    for player in started:
        if player.process.poll() is None:
            player.process.kill()
            player.process.communicate()
