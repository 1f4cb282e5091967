"""The page in a real browser (Debian's Chromium): one test for each thing that a person can do."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.explorer import CHROMIUM, DRIVER, TOKEN, WHY_NOT, run_chromium, run_explorer, wait_until

pytest.importorskip("selenium", reason="the browser tests need selenium: pip install 'entitynlm[dev]'")
if not (CHROMIUM and DRIVER):
    pytest.skip(WHY_NOT, allow_module_level=True)

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

pytestmark = pytest.mark.xdist_group("browser")

STORY = "Anna lost her key. She called Bob, and he came to the house with a lamp. Bob found it under the mat."
ROOT = Path(__file__).resolve().parents[2]
SHOWN = {"look": "#network", "entities": ".who", "expect": ".referent"}  # tabs, and what is in them
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))


class Element(WebElement):
    """What a selector finds; it is looked up again where the page has drawn it anew in the meantime."""

    def __init__(self, found: WebElement, selector: str, at: int) -> None:
        super().__init__(found.parent, found.id)
        self.selector, self.at = selector, at

    def _execute(self, command: str, params: Any = None) -> Any:
        def ask() -> list[Any]:
            try:
                return [super(Element, self)._execute(command, params)]
            except StaleElementReferenceException:
                self._id = self.parent.find_elements(By.CSS_SELECTOR, self.selector)[self.at].id
                return []

        return wait_until(ask, 20, f"for {self.selector}")[0]


class Page:
    """The page as a person uses it."""

    def __init__(self, browser: Any, address: str, app: Any, downloads: Path) -> None:
        self.browser, self.address, self.app, self.downloads = browser, address, app, downloads
        self._opened: dict[str, str] = {}

    def script(self, code: str, *arguments: Any) -> Any:
        return self.browser.execute_script(code, *arguments)

    def find(self, selector: str) -> Any:
        return wait_until(lambda: self.all(selector), 60, f"for {selector}")[0]

    def all(self, selector: str) -> list[Any]:
        found = self.browser.find_elements(By.CSS_SELECTOR, selector)
        return [Element(one, selector, at) for at, one in enumerate(found)]

    def press(self, name: str, within: str = "body") -> None:
        """Press the button of this name, as soon as there is one; it may be drawn anew at any moment."""
        code = """const found = [...document.querySelectorAll(arguments[1] + " button")].find((one) => one.checkVisibility()
        && !one.disabled && [one.textContent.trim(), one.getAttribute("aria-label")].includes(arguments[0]));
        found?.focus(); found?.click(); return Boolean(found);"""
        wait_until(lambda: self.script(code, name, within), 60, f"for the button {name}")

    def says(self, selector: str, words: str, seconds: float = 60) -> None:
        """Wait until something says this."""
        code = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent).join(' ')"
        wait_until(lambda: words in self.script(code, selector), seconds, f"for {words!r} in {selector}")

    def jump(self, word: int) -> None:
        """Type the number of a word."""
        code = "const at = document.querySelector('#at'); at.value = arguments[0]; at.dispatchEvent(new Event('change'));"
        self.script(code, word)

    def go(self, **hash: Any) -> None:
        """Open the page anew, at this place."""
        self.browser.get("about:blank")
        values = "".join(f"&{name}={value}" for name, value in hash.items())
        self.browser.get(f"{self.address}/#token={TOKEN}{values}")

    def text(self, content: str = STORY, **hash: Any) -> str:
        """Open a text that was analysed (once for all tests that ask for it), and wait until it is on the page."""
        from entitynlm.explorer import schemas

        if content not in self._opened:
            self._opened[content] = self.app.state.routes.open_text(schemas.OpenText(text=content))["id"]
        id = self._opened[content]
        analysis = self.app.state.routes.shelf.get(id)
        wait_until(lambda: not analysis.is_running, 120)
        self.go(text=id, **hash)
        self.find(".w")
        return id

    def fresh(self, content: str, **hash: Any) -> str:
        """The same with a text of its own, to be corrected."""
        self._opened.pop(content, None)
        return self.text(content, **hash)

    def word(self, i: int) -> Any:
        return self.find(f"#text [data-i='{i}']")

    def mentions(self) -> list[list[str]]:
        return self.script(
            "return [...document.querySelectorAll('#text .m')].map(m => [m.dataset.s, m.dataset.t, m.dataset.e])"
        )

    def wait_measured(self) -> None:
        self.says("#progress", "log P =", 120)

    def settle(self) -> None:
        """Wait until colours have changed."""
        running = "return document.getAnimations().some((one) => one.playState === 'running')"
        wait_until(lambda: not self.script(running), 20, "for transitions")

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    downloads = tmp_path_factory.mktemp("downloads")
    with run_explorer() as (address, app), run_chromium(downloads=str(downloads)) as browser:
        yield Page(browser, address, app, downloads)


@pytest.fixture(autouse=True)
def no_complaints(page: Page) -> Iterator[None]:
    """No test leaves an error in the console; what the server refuses on purpose is logged by the browser as well."""
    page.complaints()
    yield
    found = page.complaints()
    assert [one for one in found if "Failed to load resource" not in one or " 503 " in one] == []


def take_download(page: Page, ending: str) -> Path:
    def look() -> list[Path]:
        found = [path for path in page.downloads.iterdir() if path.name.endswith(ending)]
        return [path for path in found if path.stat().st_size]  # it is there before it is written

    path: Path = wait_until(look, 30, f"for a file {ending}")[0]
    return path


# -- reading ---------------------------------------------------------------------------------------------------------------


def test_a_pasted_text_appears_with_entities_and_surprisal(page: Page) -> None:
    page.go()
    page.find("#paste").send_keys(STORY)
    page.find("#read").click()
    page.wait_measured()
    wait_until(lambda: page.mentions(), 30)
    code = "return [...new Set([...document.querySelectorAll('#text .m sub')].map((one) => one.textContent))]"
    wait_until(lambda: {"1", "2"} <= set(page.script(code)), 10)
    shaded = (
        "return [...document.querySelectorAll('#text .w')].filter(w => /h[1-8]/.test(w.className)).length"
    )
    wait_until(lambda: page.script(shaded) > 5, 30)
    page.find("#shading").click()
    assert "surprisal-shown" not in page.script("return document.body.className")
    page.find("#shading").click()


def test_unknown_words_are_hatched(page: Page) -> None:
    page.text("Anna met Zzyxqua at the market. Zzyxqua smiled.", tab="entities")
    unknown = page.find("#text .unknown")
    assert unknown.text == "Zzyxqua" and "repeating-linear-gradient" in unknown.value_of_css_property(
        "background-image"
    )


def test_an_example_and_a_file_open(page: Page, tmp_path: Path) -> None:
    page.go()
    page.press("John and the coffee shop (the paper's first figure)", "dialog")
    wait_until(lambda: page.all("#text [data-i='16']"), 30)
    file = tmp_path / "story.jsonl"
    file.write_text(
        json.dumps({"doc_key": "d", "sentences": [["Ann", "saw", "Bo", "."]], "clusters": [[[0, 0]]]})
    )
    page.find("#open").click()
    page.find("#file").send_keys(str(file))
    wait_until(lambda: page.mentions() == [["0", "1", "1"]], 30)


def test_a_dropped_file_opens_and_a_broken_one_is_explained(page: Page) -> None:
    page.go()
    page.find("#paste")
    drop = """const data = new DataTransfer(); data.items.add(new File([arguments[0]], arguments[1]));
    document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));"""
    page.script(drop, "{broken", "x.jsonl")
    page.says("#dialog .said", "x.jsonl")
    page.script(drop, "Tom ran home.", "tom.txt")
    wait_until(lambda: page.all("#text [data-i='3']"), 20)


def test_markup_in_a_text_stays_text(page: Page) -> None:
    page.text("<img src=x onerror=alert(1)> said <b>Anna</b> & left.")
    assert not page.all("#text img, #text b") and "onerror=alert(1" in page.find("#text").text


def test_an_entity_has_a_card(page: Page) -> None:
    page.text(tab="entities")
    page.find(".who").click()
    page.says(".card", "mentions in order")
    page.find("#text .followed")
    wait_until(lambda: page.all(".card svg"), 10)
    page.find(".mentions button").click()
    assert page.find("#text .at")


# -- stepping --------------------------------------------------------------------------------------------------------------


def test_stepping_by_keys_and_buttons_shows_what_is_expected(page: Page) -> None:
    page.text(at=5, tab="expect")
    page.find(".referent")
    page.find("#text").send_keys(Keys.ARROW_RIGHT)
    page.says(".slot", "called")
    page.press("Back one word")
    page.says(".slot", "She")
    page.find("input[value='mentions']").click()
    page.says(".referent .name", "Anna")
    page.says("#panel", "bits")
    wait_until(lambda: len(page.all(".two-lists ol")) == 2, 20)
    page.find("#text .later")


def test_after_was_told_that_the_coffee_shop_is_visible(page: Page) -> None:
    page.go()
    page.press("John and the coffee shop (the paper's first figure)", "dialog")
    page.wait_measured()
    page.press("Expect")
    page.jump(17)
    page.says(".slot", "it")
    page.says("#panel", "the coffee shop")


# -- correcting ------------------------------------------------------------------------------------------------------------


def test_a_mention_is_drawn_with_the_mouse_then_changed_and_removed(page: Page) -> None:
    page.fresh("Anna lost her key . Bob found it .", tab="entities")
    ActionChains(page.browser).click_and_hold(page.word(5)).move_to_element(page.word(6)).release().perform()
    page.says(".tools", "Bob found")
    page.find("#mark").click()
    wait_until(lambda: ["5", "7"] in [mention[:2] for mention in page.mentions()], 20)
    page.press("End one word earlier", ".tools")
    wait_until(lambda: ["5", "7"] not in [mention[:2] for mention in page.mentions()], 20)
    page.press("Undo")
    wait_until(lambda: ["5", "7"] in [mention[:2] for mention in page.mentions()], 20)
    page.press("Redo")
    wait_until(lambda: ["5", "7"] not in [mention[:2] for mention in page.mentions()], 20)
    page.wait_measured()


def test_a_mention_is_marked_with_the_keyboard_alone(page: Page) -> None:
    page.fresh("Tom and Ann ran home quickly .", tab="entities")
    text = page.find("#text")
    text.send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    text.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT)
    page.says(".tools", "home quickly")
    page.find("#mark").send_keys(Keys.ENTER)
    wait_until(lambda: ["4", "6"] in [mention[:2] for mention in page.mentions()], 20)
    page.find("#text").send_keys(Keys.CONTROL + "z")
    wait_until(lambda: ["4", "6"] not in [mention[:2] for mention in page.mentions()], 20)


def test_entities_are_merged_split_and_renamed(page: Page) -> None:
    page.fresh(STORY + " They laughed.", tab="entities")
    page.find(".who")
    count = len(page.all(".who"))
    page.all(".who")[0].click()
    page.press("Merge", ".card")
    wait_until(lambda: len(page.all(".who")) == count - 1, 20)
    page.says("#progress", "by the last correction")

    def rename() -> bool:
        name = page.find(".card input")
        name.clear()
        name.send_keys("the two", Keys.ENTER)
        return True

    wait_until(rename, 20)
    page.says(".entities", "the two")
    wait_until(lambda: page.all(".mentions button")[-1].click() is None, 20)  # the card may be drawn anew
    page.press("Split the entity from this mention on", ".tools")
    wait_until(lambda: len(page.all(".who")) == count, 20)


# -- looking -------------------------------------------------------------------------------------------


OVERLAPS = """const boxes = [...document.querySelectorAll('#network text')].map((one) => one.getBoundingClientRect());
return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right && a.top < b.bottom
&& b.top < a.bottom)).length"""


def test_names_in_the_network_of_many_are_apart(page: Page) -> None:
    """Twelve people, each of whom meets three others."""
    people = "Anna Bob Clara David Emma Frank Grace Henry Ida Jack Kate Louis".split()
    pairs = [(one, people[(at + by) % 12]) for at, one in enumerate(people) for by in (1, 3, 5)]
    page.text(" ".join(f"{one} saw {other} in the garden." for one, other in pairs))
    wait_until(lambda: len(page.all("#network circle")) >= 10, 20)
    assert page.script(OVERLAPS) == 0


def test_drawings_are_zoomed_brushed_and_saved(page: Page) -> None:
    page.text(tab="look")
    marks = len(wait_until(lambda: page.all("#timeline [data-at]"), 20))
    assert page.find("#network circle")
    assert page.script(OVERLAPS) == 0
    timeline = page.find("#timeline")
    width = timeline.size["width"]
    chain = (
        ActionChains(page.browser)
        .move_to_element_with_offset(timeline, int(-0.25 * width), 0)
        .click_and_hold()
    )
    chain.move_by_offset(int(0.3 * width), 0).release().perform()
    wait_until(lambda: 0 < len(page.all("#timeline [data-at]")) < marks, 20)
    assert page.all("#text .outside") and "range=" in page.browser.current_url
    page.press("Zoom out")

    def show_all() -> bool:
        page.press("All")
        return len(page.all("#timeline [data-at]")) == marks

    wait_until(show_all, 20)
    page.press("Save the timeline as SVG")
    assert take_download(page, "timeline.svg").read_text().startswith("<svg")
    page.press("Save the network as PNG")
    assert take_download(page, "network.png").read_bytes().startswith(b"\x89PNG")


# -- saving ----------------------------------------------------------------------------------------------------------------


def test_an_annotation_is_saved_and_opened_again(page: Page) -> None:
    page.fresh("Anna saw Bob . He waved .", tab="entities")
    page.press("Save…")
    Select(page.find("#format")).select_by_value("jsonl")
    page.find("#save-annotation").click()
    saved, mentions = take_download(page, ".jsonl"), page.mentions()
    assert json.loads(saved.read_text())["sentences"][0][:3] == ["Anna", "saw", "Bob"]
    page.find("#save-tokens").click()
    assert take_download(page, ".tokens.tsv").read_text().startswith("sentence_id")
    page.go()
    page.find("#file").send_keys(str(saved))
    wait_until(lambda: page.mentions() == mentions, 30)


def test_the_address_restores_what_was_shown(page: Page) -> None:
    page.text(at=7, tab="entities")
    page.find(".who").click()
    page.find(".card")
    address = page.browser.current_url
    page.browser.get("about:blank")
    page.browser.get(address)
    page.find(".card")
    assert page.find("#at").get_attribute("value") == "8"


def test_a_wrong_token_is_asked_for(page: Page) -> None:
    page.browser.get("about:blank")
    page.browser.get(f"{page.address}/#token=wrong")
    page.find("dialog input[aria-label='Token']").send_keys(f"{page.address}/#token={TOKEN}", Keys.ENTER)
    page.find("#paste")


# -- how it behaves --------------------------------------------------------------------------------------------------------


def test_a_long_text_is_laid_out_only_where_it_is_looked_at(page: Page) -> None:
    sentence = "The old man walked to the harbour and looked at the grey sea for a while. "
    long = "\n\n".join(sentence * 12 for _ in range(260))  # about 50,000 words
    from entitynlm.explorer import schemas

    id = page.app.state.routes.open_text(schemas.OpenText(text=long))["id"]
    page.app.state.routes.cancel(id)
    page.go(text=id, tab="entities")
    page.find(".w")
    total = page.app.state.routes.describe(id)["tokens"]
    assert total > 45_000 and len(page.all("#text .w")) < 4_000
    page.jump(total - 20)
    wait_until(lambda: page.all(f"#text [data-i='{total - 21}']"))
    wait_until(lambda: len(page.all("#text .w")) < 4_000, 20)
    page.press("Go on")
    page.press("Cancel")
    page.says("#progress", "was stopped")


def test_the_page_is_light_and_loads_nothing_from_elsewhere(page: Page) -> None:
    page.text()
    code = "return performance.getEntriesByType('resource').map((one) => [one.name, one.decodedBodySize])"
    loaded = page.script(code)
    assert all(name.startswith(page.address) for name, _ in loaded)
    assert 0 < sum(size for name, size in loaded if "/static/" in name) < 200_000


def test_a_phone_shows_everything_without_scrolling_sideways(page: Page) -> None:
    with run_chromium(width=390, height=800) as browser:
        phone = Page(browser, page.address, page.app, page.downloads)
        phone._opened = page._opened
        for tab, needed in SHOWN.items():
            phone.text(tab=tab)
            phone.find(needed)
            assert phone.script("return document.documentElement.scrollWidth") <= 390, tab
        phone.press("Open…")
        assert (
            phone.script(
                "const one = document.querySelector('#dialog'); return one.scrollWidth - one.clientWidth"
            )
            == 0
        )
        assert phone.find("#stepper").is_displayed() and phone.find("#stepper").size["height"] < 60
        assert phone.complaints() == []


# -- how it opens, and what follows a correction -----------------------------------------------------------------------------


def test_it_opens_on_the_picture_of_the_whole_text(page: Page) -> None:
    page.text("CHAPTER I\n\n" + STORY)
    assert page.find("#tab-look").get_attribute("aria-selected") == "true"
    assert page.find("#timeline [data-at]") and page.find("#characters table") and page.all("#text .m")
    assert not page.all("#text .later")
    page.press("Expect")
    page.says(".slot", "She")  # the first word after the first sentence, which the heading is not


def test_it_says_what_it_computes_and_how_far(page: Page) -> None:
    page.go()
    page.find("#paste")
    page.script("document.querySelector('#paste').value = arguments[0]", (STORY + " ") * 150)
    page.find("#read").click()
    seen: set[str] = set()

    def look() -> bool:
        seen.add(page.script("return document.querySelector('#progress span').textContent"))
        return any(" of " in one and "%" in one for one in seen)

    wait_until(look, 60, f"for a share in {seen}")
    page.press("Cancel")
    page.says("#progress", "was stopped")


def test_everything_follows_a_correction_at_once(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the correction is still being measured, which the page says where the tables are saved."""
    page.fresh("Anna saw Bob . He waved at her . Bob and Anna laughed . Bob sang to Anna .", tab="look")
    page.says("#network", "Bob")
    rows = len(page.all("#timeline line"))
    never = threading.Event()
    monkeypatch.setattr(page.app.state.routes.shelf, "_measure", lambda *_: never.wait(300))
    page.press("Entities")
    page.find(".who").click()
    page.press("Merge", ".card")
    page.press("Look")
    wait_until(lambda: len(page.all("#timeline line")) == rows - 1, 20)
    assert len(page.all("#characters tr")) == 2 and not page.all("#network circle")
    page.press("Save…")
    wait_until(lambda: "still being measured" in page.find("#unmeasured").text, 20)
    for table in ("cast", "quotations", "tokens", "mentions"):
        page.find(f"#save-{table}").click()
        assert take_download(page, f"pasted-text.{table}.tsv").read_text().count("\t") > 3
    page.find("#save-annotation").click()
    take_download(page, "pasted-text.jsonl")
    never.set()
    page.press("Close", "dialog")


def test_the_step_view_shows_its_word_at_once(page: Page) -> None:
    page.text("\n\n".join([STORY] * 30), at=600, tab="expect")
    inside = """const word = document.querySelector('#text .at')?.getBoundingClientRect();
    const around = document.querySelector('#text').getBoundingClientRect();
    return Boolean(word) && word.top > around.top && word.bottom < around.bottom"""
    wait_until(lambda: page.script(inside), 20)


def test_a_refusal_is_said_in_the_dialog(page: Page) -> None:
    page.text()
    page.press("Open…")
    page.find("#read").click()
    page.says("#dialog .said", "no word")
    page.press("Close", "dialog")


def test_numbers_and_colours_survive_a_reload(page: Page) -> None:
    page.fresh(STORY + " They laughed.", tab="entities")
    page.find(".who").click()
    count = len(page.all(".who"))
    page.press("Merge", ".card")
    wait_until(lambda: len(page.all(".who")) == count - 1, 20)
    look = """return [...document.querySelectorAll('#text .m')].map((m) => [m.dataset.s, m.style.getPropertyValue('--c'),
    m.querySelector(':scope > sub')?.textContent])"""
    before = page.script(look)
    address = page.browser.current_url
    page.browser.get("about:blank")
    page.browser.get(address)
    wait_until(lambda: page.script(look) == before, 20)


def test_what_is_selected_can_be_read(page: Page) -> None:
    page.text(tab="entities")
    ActionChains(page.browser).click_and_hold(page.word(5)).move_to_element(page.word(7)).release().perform()
    wait_until(lambda: len(page.all("#text .picked")) == 3, 10)
    colours = """const one = getComputedStyle(document.querySelectorAll('#text .picked')[arguments[0]]);
    return [one.color, one.backgroundColor].map((c) => c.match(/[0-9.]+/g).slice(0, 3).map(Number))"""
    for theme in ("light", "dark"):
        Select(page.find("#theme")).select_by_value(theme)
        page.settle()
        for at in range(3):
            light, dark = sorted((measure_luminance(one) for one in page.script(colours, at)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 4.5
    Select(page.find("#theme")).select_by_value("")


def measure_luminance(colour: list[float]) -> float:
    """That of the web's guidelines, from 0 to 1."""
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_a_message_pushes_nothing(page: Page) -> None:
    page.text()
    top = "return document.querySelector('#text').getBoundingClientRect().top"
    before = page.script(top)
    page.script("document.querySelector('#notice').textContent = 'Something happened. '.repeat(9)")
    assert page.script(top) == before
    code = "for (const one of document.querySelectorAll('#progress button, #progress progress')) one.hidden = arguments[0]"
    for hidden in (True, False):  # the button to cancel is there while something is computed
        page.script(code, hidden)
        assert page.script(top) == before


def test_labels_of_nested_mentions_are_apart(page: Page) -> None:
    from entitynlm.explorer import schemas

    id = page.fresh("Anna saw Bob . He waved .")
    page.app.state.routes.correct(id, schemas.Edit(action="add", start=1, end=3))
    page.go(text=id)
    gap = """const nested = [...document.querySelectorAll('#text .m')].filter((m) => m.querySelector(':scope .m sub'));
    const outer = nested.find((m) => m.lastChild.tagName === 'SUB');
    if (!outer) return -1;
    return outer.lastChild.getBoundingClientRect().left - outer.querySelector(':scope .m sub').getBoundingClientRect().right"""
    wait_until(lambda: page.script(gap) > 1, 20)


@pytest.mark.skipif(not AXE.is_file(), reason="axe is not here: npm install --no-save axe-core")
@pytest.mark.parametrize("tab", SHOWN)
def test_axe_finds_no_violation(page: Page, tab: str) -> None:
    page.text(tab=tab, at=6)
    page.find(SHOWN[tab])
    for theme in ("light", "dark"):
        Select(page.find("#theme")).select_by_value(theme)
        page.settle()
        assert run_axe(page) == [], (tab, theme)
    Select(page.find("#theme")).select_by_value("")


@pytest.mark.skipif(not AXE.is_file(), reason="axe is not here: npm install --no-save axe-core")
def test_axe_finds_no_violation_in_the_dialogs(page: Page) -> None:
    page.text()
    for name in ("Open…", "Save…"):
        page.press(name)
        page.find("dialog[open]")
        assert run_axe(page) == [], name
        page.press("Close", "dialog")


def run_axe(page: Page) -> list[str]:
    page.script(AXE.read_text(encoding="utf-8"))
    found = page.browser.execute_async_script("axe.run(document).then(r => arguments[0](r.violations))")
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
