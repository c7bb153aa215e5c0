"""Take the pictures of docs/inspecting.md anew: `python tools/page_images.py RESULTS... -- CURVES...`.

RESULTS are run folders of `rat` (a model, the ceiling, the floor), CURVES those over a temperature. Needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def page(runs: list[str], folder: Path) -> str:
    """Write the page of some runs, and return its address."""
    file = folder / f"{len(list(folder.iterdir()))}.html"
    subprocess.run([Path(sys.executable).with_name("creval"), "report", *runs, "--html", file], check=True)
    return file.as_uri()


def open_browser(width: int, height: int) -> webdriver.Chrome:
    """Open a headless Chromium with a window of this size."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height + 87}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options)


def main() -> None:
    """Write the four pictures."""
    at = sys.argv.index("--")
    results, curves = sys.argv[1:at], sys.argv[at + 1 :]
    with tempfile.TemporaryDirectory() as name:
        wide, phone = open_browser(1280, 860), open_browser(500, 860)
        shown = page(results, Path(name))
        wide.get(shown)
        wide.save_screenshot(str(IMAGES / "report-wide.png"))
        wide.execute_script("document.getElementById('samples').scrollIntoView({behavior: 'instant'})")
        wide.execute_script("document.querySelectorAll('#list [role=option]')[2].click()")
        WebDriverWait(wide, 10).until(
            lambda shown: len(shown.find_elements(By.CSS_SELECTOR, "#detail .columns > *")) == 3
        )
        wide.save_screenshot(str(IMAGES / "report-samples.png"))
        phone.get(shown)
        phone.save_screenshot(str(IMAGES / "report-phone.png"))
        wide.get(page(curves, Path(name)))
        by_setting = wide.find_element(By.XPATH, "//summary[starts-with(., 'By ')]")
        wide.execute_script("arguments[0].scrollIntoView({behavior: 'instant'})", by_setting)
        wide.save_screenshot(str(IMAGES / "report-curves.png"))
        wide.quit()
        phone.quit()


if __name__ == "__main__":
    main()
