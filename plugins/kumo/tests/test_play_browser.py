"""`creval play kumo_easy --web` in a real headless Chromium, by keyboard and mouse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import Player, players


@pytest.fixture
def play(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    yield from players(chromium, tmp_path)


NEW = ("kumo_easy", "--name", "p01", "--limit", "2", "--seed", "5", "--output", "run")


def samples(player: Player) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (player.run / "samples" / "kumo_easy.jsonl").read_text().splitlines()]


def asked_addresses(browser: Any) -> set[str]:
    """Every address that the browser asked since the last time."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}


def test_two_games_are_played_and_recorded_as_a_run(play: Any, chromium: Any) -> None:
    chromium.get_log("browser")
    chromium.get("about:blank")
    asked_addresses(chromium)  # those of the browser's own first page
    player = play(*NEW)
    assert player.text("#count") == "1 of 2"
    book, side = (player.all(css)[0].rect for css in ("#reading", "#side"))
    assert book["x"] + book["width"] <= side["x"]  # the book on the left, the actions on the right
    actions = [label.text for label in player.all("fieldset:not(.final) label")]
    truths = [label.text for label in player.all("fieldset.final label")]
    assert (len(actions), len(truths)) == (6, 4)
    headings = [heading.text for heading in player.all("#text h5")]
    assert headings == actions  # the book has a chapter for each action

    player.all("#send")[0].click()  # nothing chosen: refused, and no answer of the run
    player.until(lambda: player.text("#message") == "Choose something first.")
    player.choose(actions[0])
    player.until(lambda: len(player.steps()) == 1)
    player.choose(actions[0])  # allowed, and counts again
    player.until(lambda: len(player.steps()) == 2)
    assert player.steps()[0] == player.steps()[1]
    assert player.steps()[0].startswith(f"{actions[0]}: ")
    assert player.all("fieldset:not(.final) label")[0].text == f"{actions[0]}\ntaken"
    player.choose(truths[0])
    player.until(lambda: player.text("#count") == "2 of 2")
    assert player.steps() == []
    last = player.all("fieldset.final label")[-1].text
    player.choose(last)
    player.until_closing()
    closing = player.text("#closing")
    assert "took 2 actions" in closing
    assert "Earnings by the formula" in closing
    code, out, err = player.end()
    assert code == 0, err
    assert "Earnings by the formula" in out

    first, second = samples(player)
    assert first["outcome"]["tests"] == [actions[0], actions[0]]
    assert (first["outcome"]["prediction"], second["outcome"]["prediction"]) == (truths[0], last)
    results = json.loads((player.run / "results.json").read_text())
    assert results["model"] == "human/p01"
    metrics = {m["name"]: m["value"] for m in results["tasks"][0]["metrics"]}
    right = sum(s["outcome"]["prediction"] in s["doc"]["valid_truths"] for s in (first, second))
    assert metrics["success_rate"] == right / 2
    assert metrics["tests"] == 1.0
    assert [entry for entry in chromium.get_log("browser") if "answer" not in entry["message"]] == []
    asked = asked_addresses(chromium)
    assert {f"{player.url}play.css", f"{player.url}play.js"} <= asked
    assert {url for url in asked if not url.startswith((player.url, "data:", "chrome:"))} == set()


def test_the_keyboard_is_enough(play: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    player = play("kumo_easy", "--limit", "1", "--output", "run")
    player.until(lambda: player.browser.switch_to.active_element.get_attribute("id") == "choices")
    player.press(Keys.TAB)
    assert player.browser.switch_to.active_element.get_attribute("name") == "choice"
    player.press(Keys.SPACE, Keys.ARROW_DOWN)  # the second action
    second = player.all("input[name=choice]")[1].get_attribute("value")
    assert player.text("#send") == f"Take: {second}"
    player.press(Keys.ENTER)
    player.until(lambda: len(player.steps()) == 1)
    assert player.steps()[0].startswith(second)
    player.until(lambda: player.browser.switch_to.active_element.get_attribute("id") == "choices")
    player.press(Keys.TAB, Keys.SPACE, Keys.ARROW_UP)  # around the end: the last truth
    assert player.text("#send").startswith("Answer: ")
    player.press(Keys.ENTER)
    player.until_closing()
    assert player.end()[0] == 0


def test_the_stop_button_stops_and_the_page_continues_with_the_run(play: Any) -> None:
    player = play(*NEW)
    player.choose(player.all("fieldset.final label")[0].text)
    player.until(lambda: player.text("#count") == "2 of 2")
    player.all("#stop")[0].click()
    player.until(lambda: player.text("#closing-title") == "Stopped")
    code, _, err = player.end()
    assert code == 130
    assert "creval play --resume run" in err
    assert "Traceback" not in err
    again = play("--resume", "run")
    again.until(lambda: again.text("#count") == "2 of 2")
    assert again.text("#person") == "p01"
    again.choose(again.all("fieldset.final label")[0].text)
    again.until_closing()
    assert again.end()[0] == 0
    assert len(samples(again)) == 2


ACCESS = """
const bad = [];
for (const field of document.querySelectorAll("input, textarea, select, progress")) {
  if (!field.labels?.length && !field.getAttribute("aria-label")) bad.push(field.outerHTML);
}
for (const set of document.querySelectorAll("fieldset")) {
  if (!set.querySelector("legend")?.textContent) bad.push("fieldset");
}
for (const button of document.querySelectorAll("button")) if (!button.textContent.trim()) bad.push("button");
if (!document.documentElement.lang) bad.push("no language");
if (document.querySelectorAll("h1").length !== 1) bad.push("h1");
return bad;
"""
CONTRAST = """
const channels = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const c = channels(getComputedStyle(node).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
  if (node.closest(".skip, script, noscript")) continue;
  const [a, b] = [light(channels(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
  found.push([(a + 0.05) / (b + 0.05), walker.currentNode.textContent.trim().slice(0, 40)]);
}
return found;
"""


def test_labels_contrast_and_width(play: Any) -> None:
    player = play(*NEW)
    player.choose(player.all(".options label")[0].text)
    player.until(lambda: len(player.steps()) == 1)
    player.all(".options label")[-1].click()
    assert player.browser.execute_script(ACCESS) == []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        player.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        contrasts = player.browser.execute_script(CONTRAST)
        assert len(contrasts) > 30
        assert [(scheme, text) for ratio, text in contrasts if ratio < 4.5] == []  # WCAG 2.2, level AA
    player.browser.set_window_size(420, 800)
    assert player.browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    player.browser.set_window_size(1360, 860)
    player.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
