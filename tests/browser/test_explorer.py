"""The explorer of the documentation: controls, and numbers compared with Python."""

import itertools
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from colors import contrast, luminance
from numpy.testing import assert_allclose
from scipy.special import ndtr
from scipy.stats import norm

from skfedauc.datasets import make_group_scores

FOLDER = Path(__file__).parents[2] / "docs" / "explorer"
PAGE = (FOLDER / "index.html").as_uri()
AVERAGES = ["macro", "samples", "positives", "negatives", "within"]
STATISTICS = ["pooled", *AVERAGES, "worst", "ratio", "cross", "difference", "cross_difference"]
CASES = {  # shifted classes of each case: negatives, positives
    "identical": (0, 0),
    "same_negatives": (0, 1),
    "same_positives": (1, 0),
    "different": (1, 1),
}
SLIDERS = ["spread-negatives", "spread-positives", "separation", "positives-2", "negatives-4"]
EQUAL = ([500] * 4, [500] * 4)
UNEQUAL = ([800, 400, 200, 100], [100, 300, 600, 1000])


def address(spread_negatives, spread_positives, counts=UNEQUAL, separation=1.0):
    positives, negatives = (",".join(map(str, of_class)) for of_class in counts)
    return (
        f"{PAGE}#spread_negatives={spread_negatives}&spread_positives={spread_positives}"
        f"&separation={separation}&n_positives={positives}&n_negatives={negatives}"
    )


def wait_until(condition):
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def load(browser, url=PAGE):
    browser.get("about:blank")  # a changed hash does not reload a page
    browser.get(url)
    # The driver may return early if the origin of the page changes.
    wait_until(
        lambda: (
            browser.execute_script("return document.readyState") == "complete"
            and browser.current_url != "about:blank"
        )
    )


def by_id(browser, name):
    return browser.find_element("id", name)


def read_controls(browser):
    """Return the positions of the visible sliders."""
    values = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('input[type=range]')]"
        ".filter(input => input.checkVisibility()).map(input => [input.id, input.value]))"
    )
    n = int(values["n-devices"])
    return SimpleNamespace(
        spread_negatives=float(values["spread-negatives"]),
        spread_positives=float(values["spread-positives"]),
        separation=float(values["separation"]),
        positives=[int(values[f"positives-{g}"]) for g in range(1, n + 1)],
        negatives=[int(values[f"negatives-{g}"]) for g in range(1, n + 1)],
    )


def read_numbers(browser):
    """Return the visible numbers as [name, data-value, text]; matrix cells are "row,column"."""
    return browser.execute_script(
        """
        const cells = [...document.querySelectorAll("[data-value]")];
        const text = cell => (cell.querySelector(".number") ?? cell).textContent;
        return cells.filter(cell => cell.checkVisibility()).map(cell => [
          cell.dataset.statistic ?? cell.dataset.device ??
            `${cell.parentElement.rowIndex},${cell.cellIndex}`,
          Number(cell.dataset.value), text(cell)]);
        """
    )


def expected(state):
    """Return all statistics by their definitions, over all pairs of devices."""
    n = len(state.positives)
    steps = np.linspace(-0.5, 0.5, n)
    mean_positive = state.separation + state.spread_positives * steps
    mean_negative = state.spread_negatives * steps
    auc = {
        (g, h): norm.cdf(mean_positive[g] - mean_negative[h], scale=np.sqrt(2))
        for g in range(n)
        for h in range(n)
    }
    own = [auc[g, g] for g in range(n)]

    def mean(weight):
        return sum(weight(g, h) * auc[g, h] for g, h in auc) / sum(weight(g, h) for g, h in auc)

    pos, neg = state.positives, state.negatives
    share = sum(p * n for p, n in zip(pos, neg, strict=True)) / (sum(pos) * sum(neg))
    return {
        "pooled": mean(lambda g, h: pos[g] * neg[h]),
        "cross": mean(lambda g, h: pos[g] * neg[h] * (g != h)),
        "macro": mean(lambda g, h: g == h),
        "samples": mean(lambda g, h: (pos[g] + neg[g]) * (g == h)),
        "positives": mean(lambda g, h: pos[g] * (g == h)),
        "negatives": mean(lambda g, h: neg[g] * (g == h)),
        "within": mean(lambda g, h: pos[g] * neg[h] * (g == h)),
        "worst": min(own),
        "difference": max(own) - min(own),
        "ratio": min(own) / max(own),
        "cross_difference": max(abs(auc[g, h] - auc[h, g]) for g, h in auc),
        "share_within": share,
        "share_across": 1 - share,
        **{f"{g + 1}": own[g] for g in range(n)},
        **{f"{g + 1},{h + 1}": value for (g, h), value in auc.items()},
    }


def population(state):
    """Return the AUCs of make_group_scores for the state; None if it has no such case."""
    spreads = state.spread_negatives, state.spread_positives
    shifted = tuple(int(spread != 0) for spread in spreads)
    if shifted == (1, 1) and spreads[0] != spreads[1]:
        return None
    (case,) = (name for name, shifts in CASES.items() if shifts == shifted)
    half = max(spreads) / 2
    return make_group_scores(
        case,
        state.positives,
        state.negatives,
        shifts=np.linspace(-half, half, len(state.positives)),
        separation=state.separation,
    ).population


def check_numbers(browser):
    """Check the visible numbers against the sliders; return the state and the numbers."""
    state = read_controls(browser)
    shown = read_numbers(browser)
    oracle = expected(state)
    assert {name for name, _, _ in shown} == set(oracle)
    for name, value, text in shown:
        assert value == pytest.approx(oracle[name], abs=1e-9), name
        assert text == f"{value:.4f}", name
    numbers = {name: value for name, value, _ in shown}
    known = population(state)
    if known is not None:
        n = len(state.positives)
        for name in STATISTICS:
            assert numbers[name] == pytest.approx(known[name], abs=1e-9), name
        assert_allclose([numbers[f"{g + 1}"] for g in range(n)], known["by_group"], atol=1e-9)
        matrix = [[numbers[f"{g + 1},{h + 1}"] for h in range(n)] for g in range(n)]
        assert_allclose(matrix, known["cross_matrix"], atol=1e-9)
    return state, numbers


def marked_equal(browser):
    """Return averages that equal the pooled AUC according to the words and to the diamonds."""
    rows = {
        name: browser.find_element("css selector", f"#averages tr:has([data-terms={name}])")
        for name in AVERAGES
    }
    words = {name for name, row in rows.items() if "= pooled" in row.text}
    filled = {
        name for name, row in rows.items() if row.find_elements("css selector", ".diamond.equal")
    }
    assert words == filled
    return words


def set_media(browser, **features):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name, "value": value} for name, value in features.items()]},
    )


@pytest.fixture(params=["light", "dark"])
def scheme(browser, request):
    set_media(browser, **{"prefers-color-scheme": request.param})
    yield request.param
    set_media(browser)


@pytest.fixture
def phone(browser):
    browser.set_window_size(360, 780)
    load(browser)
    assert browser.execute_script("return innerWidth") == 360
    return browser


# Numbers


def test_first_view(browser):
    load(browser)
    state, _ = check_numbers(browser)
    assert (state.spread_negatives, state.spread_positives) == (0, 1.5)
    assert (state.positives, state.negatives) == UNEQUAL
    assert marked_equal(browser) == {"positives"}


def test_normal_distribution_function(browser):
    load(browser)
    x = np.concatenate([np.linspace(-12, 12, 2001), [0, 1e-300, 5e-324, -1e-9, 8.99999, 40]])
    phi = browser.execute_script("return arguments[0].map(normalCdf)", x.tolist())
    assert_allclose(phi, ndtr(x), rtol=0, atol=2e-15)


def test_any_state(browser):
    random = np.random.default_rng(0)
    load(browser)
    for _ in range(15):
        n = random.integers(2, 7)
        spreads = random.integers(0, 61, size=2) / 20 * random.integers(0, 2, size=2)
        counts = 10 * random.integers(1, 101, size=(2, n))
        separation = random.integers(0, 51) / 20
        browser.get(address(*spreads, counts.tolist(), separation))
        wanted = {
            "spread_negatives": spreads[0],
            "spread_positives": spreads[1],
            "separation": separation,
            "positives": counts[0].tolist(),
            "negatives": counts[1].tolist(),
        }
        wait_until(lambda wanted=wanted: vars(read_controls(browser)) == wanted)
        _, numbers = check_numbers(browser)
        assert marked_equal(browser) == {
            name for name in AVERAGES if abs(numbers[name] - numbers["pooled"]) < 1e-12
        }


# Controls


def test_presets(browser):
    for case, counts in itertools.product(CASES, ["equal", "unequal"]):
        load(browser, address(0.35, 2.2, ([10, 20], [30, 40])))
        for selector in (f"[data-case={case}]", f"[data-counts={counts}]"):
            button = browser.find_element("css selector", selector)
            button.click()
            assert button.get_attribute("aria-pressed") == "true"
        pressed = browser.find_elements("css selector", "button[aria-pressed=true]")
        assert len(pressed) == 2
        state, _ = check_numbers(browser)
        assert ((state.spread_negatives > 0), (state.spread_positives > 0)) == CASES[case]
        is_equal = len(set(state.positives)) == len(set(state.negatives)) == 1
        assert is_equal == (counts == "equal")
        equal = {
            "identical": set(AVERAGES),
            "same_negatives": set(AVERAGES) if counts == "equal" else {"positives"},
            "same_positives": set(AVERAGES) if counts == "equal" else {"negatives"},
            "different": set(),
        }
        assert marked_equal(browser) == equal[case]


@pytest.mark.parametrize("name", SLIDERS)
def test_drag(browser, name):
    from selenium.webdriver import ActionChains

    load(browser, address(0.4, 1.5))
    slider = by_id(browser, name)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", slider)
    browser.execute_script(
        """
        window.seen = [];
        arguments[0].addEventListener("input", () => seen.push([Number(arguments[0].value),
          Number(document.querySelector("[data-statistic=pooled]").dataset.value)]));
        """,
        slider,
    )
    # A press in the middle moves the thumb to the middle; then the thumb is dragged. Both are one
    # chain, because the driver releases the thumb at the end of a chain.
    actions = ActionChains(browser, duration=20).click_and_hold(slider)
    for _ in range(3):
        actions.move_by_offset(8, 0)
    actions.release().perform()
    values, pooled = np.transpose(browser.execute_script("return seen"))
    assert len(values) >= 3
    assert np.all(np.diff(values) > 0)
    assert len(set(pooled)) == len(pooled)
    low, high = float(slider.get_attribute("min")), float(slider.get_attribute("max"))
    assert values[-1] > (low + high) / 2
    _, numbers = check_numbers(browser)
    assert numbers["pooled"] == pooled[-1]
    shown = browser.find_element("css selector", f"output[for={name}]").text
    assert float(shown) == values[-1]


def test_keyboard(browser):
    from selenium.webdriver import Keys

    load(browser)
    for name in (*SLIDERS, "n-devices"):
        slider = by_id(browser, name)
        low, high, step = (float(slider.get_attribute(limit)) for limit in ("min", "max", "step"))
        value = float(slider.get_attribute("value"))
        if value == high:
            slider.send_keys(Keys.ARROW_DOWN)
            value -= step
        for key, reached in [
            (Keys.ARROW_RIGHT, value + step),
            (Keys.ARROW_LEFT, value),
            (Keys.ARROW_UP, value + step),
            (Keys.HOME, low),
            (Keys.END, high),
        ]:
            slider.send_keys(key)
            assert float(slider.get_attribute("value")) == pytest.approx(reached, abs=1e-12), name
            check_numbers(browser)


def test_devices_come_back_with_their_counts(browser):
    from selenium.webdriver import Keys

    load(browser, address(0, 1.5, ([10, 20, 30], [40, 50, 60])))
    slider = by_id(browser, "n-devices")
    slider.send_keys(Keys.ARROW_LEFT)
    assert check_numbers(browser)[0].positives == [10, 20]
    slider.send_keys(Keys.ARROW_RIGHT)
    assert check_numbers(browser)[0].positives == [10, 20, 30]


def test_tab_reaches_every_control(browser):
    from selenium.webdriver import ActionChains, Keys

    load(browser)
    controls = browser.execute_script(
        "return [...document.querySelectorAll('a, button, input, summary')]"
        ".filter(control => control.checkVisibility())"
    )
    assert len(controls) == 1 + 6 + 3 + 1 + 8 + 1 + 4 + 1 + 1
    for control in controls:
        ActionChains(browser).send_keys(Keys.TAB).perform()
        assert browser.switch_to.active_element == control
        assert control.value_of_css_property("outline-style") == "solid"
        assert control.value_of_css_property("outline-width") == "3px"


def test_buttons_by_keyboard(browser):
    from selenium.webdriver import Keys

    load(browser)
    browser.find_element("css selector", "[data-case=identical]").send_keys(Keys.ENTER)
    browser.find_element("css selector", "[data-counts=equal]").send_keys(Keys.SPACE)
    state, _ = check_numbers(browser)
    assert (state.spread_negatives, state.spread_positives) == (0, 0)
    assert (state.positives, state.negatives) == EQUAL


# The address


def test_address_restores_the_state(browser):
    from selenium.webdriver import Keys

    load(browser)
    for name in ("spread-negatives", "positives-2", "negatives-4"):
        by_id(browser, name).send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    by_id(browser, "heights").click()
    by_id(browser, "n-devices").send_keys(Keys.ARROW_RIGHT)
    wait_until(lambda: "n_positives=800,20,200,100,600&" in browser.current_url)
    before = vars(read_controls(browser))
    assert before["spread_negatives"] == 0.05
    url = browser.current_url
    load(browser, url)
    state, _ = check_numbers(browser)
    assert vars(state) == before
    assert not by_id(browser, "heights").is_selected()
    assert browser.current_url == url


def test_what_the_address_has_wrong_is_left_out(browser):
    load(browser)
    usual = vars(read_controls(browser))
    for wrong in (
        "#n_positives=1,2,3&n_negatives=1,2",
        "#n_positives=500&n_negatives=500",
        "#n_positives=1,2,3,4,5,6,7&n_negatives=1,2,3,4,5,6,7",
        "#n_positives=10,,30,40&n_negatives=10,20,30,40",
        "#separation=much&spread_negatives=&spread_positives=NaN",
        "#separation=1,2",
        "#<b>",
        "#%",
    ):
        load(browser, PAGE + wrong)
        assert vars(check_numbers(browser)[0]) == usual, wrong


def test_an_address_beyond_the_sliders_is_brought_to_their_ends(browser):
    load(browser, address(-1, 99, ([0, 5000], [1, 14]), separation=1e9))
    state, _ = check_numbers(browser)
    assert vars(state) == {
        "spread_negatives": 0,
        "spread_positives": 3,
        "separation": 2.5,
        "positives": [10, 1000],
        "negatives": [10, 10],
    }


def test_suggestions_keep_their_promises(browser):
    load(browser)
    links = browser.find_elements("css selector", "section li a")
    found = {}
    for link in links:
        link.click()
        target = link.get_attribute("hash")
        wait_until(
            lambda target=target: browser.execute_script("return hashOf(readControls())") == target
        )
        state, numbers = check_numbers(browser)
        own = [numbers[f"{g + 1}"] for g in range(len(state.positives))]
        found[" ".join(link.text.split())] = (numbers["pooled"], min(own), max(own))
        if "hide" in link.text:
            assert marked_equal(browser) == set(AVERAGES)
    pooled, low, high = found.pop("Equally good devices, a lower pooled AUC")
    assert pooled < low == pytest.approx(high, abs=1e-12)
    pooled, low, high = found.pop("A pooled AUC above that of every device")
    assert pooled > high
    pooled, low, high = found.pop("A pooled AUC below 0.5")
    assert pooled < 0.5 < 0.7 < low
    assert list(found) == ["Equal class counts hide the difference"]


# Words


VERDICTS = [
    (address(0, 0), "every average equals the pooled AUC", "coincidence"),
    (
        address(0, 1),
        "by positives therefore equals the pooled AUC.",
        "negatives equals",
    ),
    (
        address(1, 0),
        "by negatives therefore equals the pooled AUC.",
        "positives equals",
    ),
    (address(0, 1, EQUAL), "With equal class counts, all averages", "other weights"),
    (address(1, 0, EQUAL), "With equal class counts, all averages", "other weights"),
    # All devices have equal numbers of positives, so macro and positives have equal weights.
    # All devices have one prevalence, so samples and negatives have equal weights, too.
    (
        address(0, 1, ([200, 200], [100, 900])),
        "With these counts macro has the same weights.",
        "coincidence",
    ),
    (
        address(0, 1, ([200, 400], [100, 200])),
        "With these counts samples and negatives have the same weights.",
        "coincidence",
    ),
    # Without separation, AUCs are 0.5, or symmetric around 0.5.
    (
        address(0, 1, ([100, 400, 100], [300, 50, 80]), separation=0),
        "By coincidence, macro equals it as well.",
        "same weights",
    ),
    (
        address(1, 2, EQUAL, separation=0),
        "By coincidence, macro, samples, positives, negatives and within equal it.",
        "the average by",
    ),
    (address(2, 2), "no average equals it", "coincidence"),
    # Without separation, all devices have an AUC of 0.5, and cross AUCs are symmetric.
    (address(2, 2, EQUAL, separation=0), "by coincidence", "no average"),
    (address(1, 2), "no average has to equal the pooled AUC", "coincidence"),
]


def state_of(url):
    """Return the positions of the sliders that an address asks for."""
    given = dict(part.split("=") for part in url.partition("#")[2].split("&"))
    numbers = {name: [float(number) for number in of.split(",")] for name, of in given.items()}
    counts = {name.removeprefix("n_"): numbers.pop(name) for name in ("n_positives", "n_negatives")}
    return {name: value for name, (value,) in numbers.items()} | counts


def test_verdict(browser):
    load(browser, address(0.4, 1.5))
    for url, words, not_said in VERDICTS:
        browser.get(url)  # a changed hash sets the sliders without loading the page again
        wanted = state_of(url)
        wait_until(lambda wanted=wanted: vars(read_controls(browser)) == wanted)
        verdict = by_id(browser, "verdict")
        assert words in verdict.text, url
        assert not_said not in verdict.text, url
        assert verdict.get_attribute("aria-live") == "polite"


def test_verdict_is_said_again_only_when_it_changes(browser):
    from selenium.webdriver import Keys

    load(browser, address(0, 1))
    browser.execute_script(
        "window.said = 0;"
        "new MutationObserver(() => window.said++)"
        ".observe(document.getElementById('verdict'), {childList: true, characterData: true})"
    )
    by_id(browser, "separation").send_keys(Keys.ARROW_RIGHT * 5)
    assert browser.execute_script("return said") == 0
    by_id(browser, "spread-negatives").send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return said") == 1


@pytest.mark.parametrize("spreads", [(0, 0), (0, 1.35), (2.2, 0), (0.7, 0.7)])
def test_python_has_the_same_numbers(browser, spreads):
    load(browser, address(*spreads, ([10, 20, 370, 40, 50], [600, 70, 80, 90, 100]), 0.85))
    namespace = {}
    printed = []
    exec(by_id(browser, "snippet").text, {"print": printed.append}, namespace)
    known = namespace["devices"].population
    _, numbers = check_numbers(browser)
    for name in STATISTICS:
        assert known[name] == pytest.approx(numbers[name], abs=1e-9), name
    assert printed == [known["pooled"]]


def test_python_where_make_group_scores_has_no_case(browser):
    load(browser, address(1, 2))
    assert not by_id(browser, "python").is_displayed()
    assert by_id(browser, "no-case").is_displayed()


def test_copied_python_can_be_pasted(browser):
    from selenium.webdriver import Keys

    load(browser)
    by_id(browser, "copy").click()
    wait_until(lambda: by_id(browser, "copied").text != "")
    snippet = by_id(browser, "snippet").text
    if by_id(browser, "copied").text != "Copied":  # otherwise the text is selected
        browser.switch_to.active_element.send_keys(Keys.CONTROL, "c")
    browser.execute_script("document.body.append(document.createElement('textarea'))")
    field = browser.find_element("css selector", "textarea")
    field.send_keys(Keys.CONTROL, "v")
    assert field.get_attribute("value") == snippet


# Plots


@pytest.mark.parametrize("url", [address(0, 1.5), address(3, 1, ([50, 900, 300], [10, 400, 80]))])
def test_marks_are_where_the_axis_says(browser, url):
    load(browser, url)
    state, numbers = check_numbers(browser)
    drawn = browser.execute_script(
        """
        const middle = mark => { const box = mark.getBoundingClientRect();
                                 return box.left + box.width / 2; };
        const marks = selector => [...document.querySelectorAll(selector)];
        return {
          ticks: marks("#auc-axis text").map(tick => [Number(tick.textContent), middle(tick)]),
          devices: marks("#axis-devices circle").map(middle),
          lines: marks("#averages .pooled").map(middle),
          diamonds: Object.fromEntries(marks("[data-terms]").map(plot =>
            [plot.dataset.terms, middle(plot.querySelector(".diamond"))])),
          discs: Object.fromEntries(marks("[data-terms]").map(plot =>
            [plot.dataset.terms, [...plot.querySelectorAll("circle")].map(disc =>
              [middle(disc), disc.r.baseVal.value])])),
        };
        """
    )
    at, pixels = np.transpose(drawn["ticks"])
    slope, start = np.polyfit(at, pixels, 1)
    assert_allclose(slope * at + start, pixels, atol=0.5)

    n = len(state.positives)
    own = np.array([numbers[f"{g + 1}"] for g in range(n)])
    assert_allclose(drawn["devices"], slope * own + start, atol=0.5)
    assert_allclose(drawn["lines"], slope * numbers["pooled"] + start, atol=1)
    for name, pixel in drawn["diamonds"].items():
        assert pixel == pytest.approx(slope * numbers[name] + start, abs=0.5), name
    # The areas of the discs are the weights: their center of mass is the average, and their sum is
    # constant. Devices with equal AUCs share a disc.
    pairs = {(g, h): numbers[f"{g + 1},{h + 1}"] for g in range(n) for h in range(n)}
    across = [auc for (g, h), auc in pairs.items() if g != h]
    aucs = {"pooled": list(pairs.values()), "cross": across}
    for name, discs in drawn["discs"].items():
        middles, radii = np.transpose(discs)
        balance = np.average((middles - start) / slope, weights=radii**2)
        assert balance == pytest.approx(numbers[name], abs=0.002), name
        assert np.sum(radii**2) == pytest.approx(12**2), name
        assert len(discs) == len(np.unique(np.round(aucs.get(name, own), 9))), name


@pytest.mark.parametrize("heights", ["counts", "equal"])
def test_densities_peak_at_their_means(browser, heights):
    load(browser, address(1, 2, ([800, 400], [100, 300])) + f"&heights={heights}")
    ticks, peaks = browser.execute_script(
        """
        const left = mark => mark.getBoundingClientRect().left;
        const ticks = [...document.querySelectorAll("#score-axis text")].map(
          tick => [Number(tick.textContent), left(tick) + tick.getBoundingClientRect().width / 2]);
        const peak = curve => {
          const box = curve.ownerSVGElement.getBoundingClientRect();
          const points = curve.getAttribute("d").slice(1).split("L")
            .map(point => point.split(",").map(Number));
          const [x, y] = points.reduce((top, point) => point[1] < top[1] ? point : top);
          return [box.left + x / 1000 * box.width, 97 - y];
        };
        const rows = [...document.querySelectorAll("#devices tr:not([hidden])")];
        return [ticks, rows.flatMap(row => [...row.querySelectorAll(".curve")].map(peak))];
        """
    )
    at, pixels = np.transpose(ticks)
    slope, start = np.polyfit(at, pixels, 1)
    x, tall = np.transpose(peaks)
    # negatives and positives of the first and of the second device, in steps of 0.1
    assert_allclose((x - start) / slope, [-0.5, 0, 0.5, 2], atol=0.06)
    counts = np.array([100, 800, 300, 400]) if heights == "counts" else np.ones(4)
    assert_allclose(tall / tall.max(), counts / counts.max(), atol=0.01)


# Everywhere


@pytest.mark.parametrize("url", [PAGE, address(3, 3, ([1000] * 6, [1000] * 6)), address(1, 2)])
def test_a_phone_needs_no_sideways_scrolling(phone, url):
    load(phone, url)
    phone.execute_script("document.querySelector('details').open = true")
    width, room = phone.execute_script(
        "const page = document.scrollingElement; return [page.scrollWidth, page.clientWidth]"
    )
    assert width <= room
    beyond = phone.execute_script(
        "return [...document.querySelectorAll('body *')].filter(part => part.checkVisibility() &&"
        "!part.closest('svg') && part.getBoundingClientRect().right > innerWidth)"
        ".map(part => part.outerHTML)"
    )
    assert beyond == []


def test_every_control_can_be_touched_on_a_phone(phone):
    controls = phone.find_elements("css selector", "button, input, summary")
    controls = [control for control in controls if control.is_displayed()]
    assert len(controls) == 6 + 3 + 1 + 8 + 1 + 1 + 1
    for control in [*controls, *reversed(controls)]:
        # Keyboard focus scrolls to a control; sticky elements must not cover the control.
        on_top, width, height = phone.execute_script(
            """
            arguments[0].scrollIntoView({block: "nearest"});
            const box = arguments[0].getBoundingClientRect();
            const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
            const top = document.elementFromPoint(x, y);
            return [arguments[0].contains(top), box.width, box.height];
            """,
            control,
        )
        assert on_top, control.get_attribute("outerHTML")
        assert height >= 24 or control.get_attribute("id") == "heights"  # including its label
        assert width >= 20


def test_sliders_stay_in_sight_on_a_phone(phone):
    from selenium.webdriver import ActionChains

    phone.execute_script("document.getElementById('averages').scrollIntoView()")
    slider = by_id(phone, "spread-negatives")
    top = slider.rect["y"] - phone.execute_script("return scrollY")
    assert 0 <= top < 100
    ActionChains(phone, duration=20).drag_and_drop_by_offset(slider, 20, 0).perform()
    state, _ = check_numbers(phone)
    assert state.spread_negatives > 1.5


def test_contrast(browser, scheme):
    load(browser)
    browser.execute_script("document.querySelector('details').open = true")
    texts, lines = browser.execute_script(
        """
        const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
        const behind = part => {
          const colour = numbers(getComputedStyle(part).backgroundColor);
          return colour.length === 3 || !part.parentElement ? colour : behind(part.parentElement);
        };
        const own = part => [...part.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        const seen = [...document.querySelectorAll("body *")].filter(p => p.checkVisibility());
        const colour = part => getComputedStyle(part)[part.closest("svg") ? "fill" : "color"];
        return [
          seen.filter(part => own(part) && part.tagName !== "title")
            .map(part => [part.outerHTML, numbers(colour(part)), behind(part)]),
          [...document.querySelectorAll(".curve, .swatch line, .diamond, .pooled, .disc")]
            .map(part => [part.outerHTML, numbers(getComputedStyle(part).stroke), behind(part)]),
        ];
        """
    )
    assert len(texts) > 100
    assert len(lines) > 30
    back = texts[0][2]
    assert (luminance(back) > 0.5) == (scheme == "light")
    # WCAG 2.2, 1.4.3 and 1.4.11: 4.5 for text, 3 for graphics
    assert [html for html, colour, behind in texts if contrast(colour, behind) < 4.5] == []
    assert [html for html, colour, behind in lines if contrast(colour, behind) < 3] == []


def test_structure(browser):
    load(browser)
    assert browser.execute_script("return document.compatMode") == "CSS1Compat"
    assert browser.execute_script("return document.documentElement.lang") == "en"
    levels = browser.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    unlabelled, identifiers = browser.execute_script(
        "return [[...document.querySelectorAll('input')].filter(i => !i.labels[0]?.textContent)"
        ".map(i => i.id), [...document.querySelectorAll('[id]')].map(part => part.id)]"
    )
    assert unlabelled == []
    assert len(set(identifiers)) == len(identifiers)
    back = browser.find_element("css selector", "header a").get_dom_attribute("href")
    assert back == "../index.html"


def test_nothing_comes_from_elsewhere(browser):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = partial(Quiet, directory=FOLDER)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            origin = f"http://127.0.0.1:{server.server_port}/"
            load(browser, origin + "index.html")
            check_numbers(browser)
            loaded = browser.execute_script(
                "return performance.getEntriesByType('resource').map(entry => entry.name)"
            )
        finally:
            server.shutdown()
    files = {path.name for path in FOLDER.iterdir()} - {"index.html"}
    assert {name for name in loaded if not name.startswith("data:")} == {
        origin + name for name in files
    }
    for path in FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        for call in ("fetch(", "XMLHttpRequest", "import(", "@import", "url(", "sendBeacon"):
            assert call not in text, path.name
