"""The page of `creval report --html` with few and with 10,000 samples, in a headless Chromium.

Prints, for each: bytes, milliseconds until the list can be used, milliseconds of a search through everything said, and
the longest that the page did not answer while it searched; and the ratios to the smallest page.

    python -m benchmarks.page.run
"""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver

import creval
from creval.report.baselines import Baselines
from creval.runs.reader import open_runs
from creval_page.write_page import page_data, page_text

SIZES = (60, 1_000, 10_000)
WATCH = """
window.longest = 0; let last = performance.now();
const beat = () => {
  const now = performance.now();
  window.longest = Math.max(window.longest, now - last);
  last = now;
  setTimeout(beat, 0);
};
beat();
"""
SEARCH = """
const done = arguments[arguments.length - 1], start = performance.now(), count = document.getElementById('count');
const query = document.getElementById('query'); query.value = 'swiss'; query.dispatchEvent(new Event('input'));
new MutationObserver(() => { if (!count.textContent.includes('searching')) done(performance.now() - start); })
  .observe(count, {childList: true, characterData: true, subtree: true});
"""


def enlarged(data: dict[str, Any], size: int) -> dict[str, Any]:
    """The same page with so many samples, each of them with another key."""
    samples = [one for piece in data["pieces"] for one in json.loads(gzip.decompress(base64.b64decode(piece)))]
    rows = data["samples"]["rows"]
    many = [[rows[i % len(rows)][0], f"{i:05}", *rows[i % len(rows)][2:]] for i in range(size)]
    texts = [{**samples[i % len(samples)], "key": f"{i:05}"} for i in range(size)]
    packs = [json.dumps(texts[start : start + 50]).encode() for start in range(0, size, 50)]
    pieces = [base64.b64encode(gzip.compress(pack, 6)).decode() for pack in packs]
    return {**data, "pieces": pieces, "samples": {**data["samples"], "rows": many, "total": size}}


def main() -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for which in ("floor", "ceiling"):
            creval.run(["rat"], f"baseline/{which}", creval.RunOptions(output=folder / which, offline=True))
        data = page_data(open_runs([folder / "floor", folder / "ceiling"]), Baselines())
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        browser.set_script_timeout(120)
        print("samples      bytes   ready, ms   search, ms   longest silence, ms")
        first: tuple[float, ...] = ()
        for size in SIZES:
            page = folder / f"{size}.html"
            page.write_text(page_text(enlarged(data, size)), encoding="utf-8")
            start = time.perf_counter()
            browser.get(page.as_uri())
            browser.execute_script("return document.querySelectorAll('.item').length")
            ready = 1000 * (time.perf_counter() - start)
            browser.execute_script(WATCH)
            search = browser.execute_async_script(SEARCH)
            longest = browser.execute_script("return window.longest")
            found = (page.stat().st_size, ready, search, longest)
            first = first or found
            ratios = " ".join(f"x{now / then:.1f}" for now, then in zip(found, first, strict=True))
            print(f"{size:7} {found[0]:10} {ready:11.0f} {search:12.0f} {longest:21.0f}   {ratios}")
        browser.quit()


if __name__ == "__main__":
    main()
