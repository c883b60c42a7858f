"""The explorer of the documentation: controls, and numbers compared with Python."""

import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from colors import contrast, luminance
from numpy.testing import assert_allclose
from scipy.stats import kstest, norm
from waiting import open_details, wait_until

from skfedauc import GroupAUC

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "explorer"
PAGE = (FOLDER / "index.html").as_uri()
CSS = "css selector"
AVERAGES = ["macro", "samples", "positives", "negatives", "within"]
STATISTICS = ["pooled", *AVERAGES, "worst", "ratio", "cross", "difference", "cross_difference"]
CASES = {  # classes whose means differ between groups: first negatives, then positives
    "identical": (0, 0),
    "same_negatives": (0, 1),
    "same_positives": (1, 0),
    "different": (1, 1),
    "neither": (1, 1),
}
EQUAL = ([500] * 4, [500] * 4)
UNEQUAL = ([800, 400, 200, 100], [100, 300, 600, 1000])
RNG = np.random.default_rng


def means_of(middle, spread, n):
    return np.round(middle + spread * np.linspace(-0.5, 0.5, n), 4).tolist()


def fragment(spread_negatives, spread_positives, counts=UNEQUAL, separation=1.0, **others):
    """Return the part of a link after #, for evenly spaced means."""
    n = len(counts[0])
    lists = {
        "mean_negatives": means_of(0, spread_negatives, n),
        "mean_positives": means_of(separation, spread_positives, n),
        "n_positives": counts[0],
        "n_negatives": counts[1],
    }
    given = {name: ",".join(map(str, values)) for name, values in lists.items()} | others
    return "#" + "&".join(f"{name}={value}" for name, value in given.items())


def load(browser, url=PAGE):
    browser.get("about:blank")  # a changed hash does not reload a page
    browser.get(url)


def go(browser, hash_):
    """Change the hash of the open page, as a link within the page does."""
    browser.execute_async_script(
        """
        const [hash, done] = arguments;
        writeHash(); // at once instead of soon
        if (location.hash === hash) return done();
        addEventListener("hashchange", () => setTimeout(done), { once: true });
        location.hash = hash;
        """,
        hash_,
    )


def by_id(browser, name):
    return browser.find_element("id", name)


def press(browser, *keys):
    """Press keys for the element with the focus."""
    from selenium.webdriver import ActionChains

    ActionChains(browser, duration=0).send_keys(*keys).perform()


def focus(browser, name):
    browser.execute_script("document.getElementById(arguments[0]).focus()", name)


READ = """
const of = ["average", "seed", "sampled", "digits"].map(name => [name, state[name]]);
const sliders = [...document.querySelectorAll("input[type=range]")];
const cells = [...document.querySelectorAll("[data-value]")];
const text = cell => (cell.querySelector(".number") ?? cell).textContent;
return [
  { ...groupsOf(state), ...Object.fromEntries(of) },
  Object.fromEntries(sliders.filter(input => input.checkVisibility()).map(
    input => [input.id, Number(input.value)])),
  cells.filter(cell => !cell.closest("[hidden], template")).map(cell => [
    cell.dataset.statistic ?? cell.dataset.group ??
      `${cell.parentElement.rowIndex},${cell.cellIndex}`,
    Number(cell.dataset.value), text(cell)]),
];
"""


def read(browser):
    """Return the state, and the numbers as [name, data-value, text].

    The sliders are checked against the state. Matrix cells have the name "row,column".
    """
    state, sliders, numbers = browser.execute_script(READ)
    n = len(state["nPositives"])
    groups = range(1, n + 1)
    assert [sliders[f"positives-{g}"] for g in groups] == state["nPositives"]
    assert [sliders[f"negatives-{g}"] for g in groups] == state["nNegatives"]
    for name, key in (("negatives", "meanNegatives"), ("positives", "meanPositives")):
        # sliders have steps of 0.05
        assert_allclose([sliders[f"mean-{name}-{g}"] for g in groups], state[key], atol=0.026)
        spread = min(np.ptp(state[key]), 3)
        assert sliders[f"spread-{name}"] == pytest.approx(spread, abs=0.026)
    assert sliders["n-groups"] == n
    known = SimpleNamespace(
        mean_negatives=state["meanNegatives"],
        mean_positives=state["meanPositives"],
        positives=state["nPositives"],
        negatives=state["nNegatives"],
        **{name: state[name] for name in ("average", "seed", "sampled", "digits")},
    )
    return known, numbers


def read_state(browser):
    return read(browser)[0]


def read_numbers(browser):
    return read(browser)[1]


def expected(state):
    """Return all statistics by numerical integration, without the normal distribution's AUC."""
    # The trapezoid rule converges fast: the integrands are smooth, and nearly 0 at both ends.
    x = np.linspace(-14, 16, 3001)
    step = x[1] - x[0]
    f_positive = norm.pdf(x, np.array(state.mean_positives)[:, None])
    below = norm.cdf(x, np.array(state.mean_negatives)[:, None])
    matrix = f_positive @ below.T * step
    own = np.diag(matrix)
    pos, neg = np.array(state.positives), np.array(state.negatives)
    # The AUC of all rows, from the densities of all positives and of all negatives
    pooled = np.sum((pos @ f_positive) * (neg @ below)) * step / (pos.sum() * neg.sum())
    # Probability that a random positive and a random negative belong to the same group
    share = np.sum(pos * neg) / (pos.sum() * neg.sum())
    within = np.average(own, weights=pos * neg)
    return {
        "pooled": pooled,
        "cross": (pooled - share * within) / (1 - share),
        "macro": np.mean(own),
        "samples": np.average(own, weights=pos + neg),
        "positives": np.average(own, weights=pos),
        "negatives": np.average(own, weights=neg),
        "within": within,
        "worst": own.min(),
        "difference": np.ptp(own),
        "ratio": own.min() / own.max(),
        "cross_difference": np.abs(matrix - matrix.T).max(),
        "share_within": share,
        "share_across": 1 - share,
        **{f"{g + 1}": auc for g, auc in enumerate(own)},
        **{f"{g + 1},{h + 1}": auc for (g, h), auc in np.ndenumerate(matrix)},
    }


def check_numbers(browser):
    """Check the numbers without sampling error; return the state and the numbers."""
    state, shown = read(browser)
    oracle = expected(state)
    assert {name for name, _, _ in shown} == set(oracle)
    for name, value, text in shown:
        assert value == pytest.approx(oracle[name], abs=1e-9), name
        assert text == f"{value:.{state.digits}f}", name
    return state, {name: value for name, value, _ in shown}


def marked_equal(browser):
    """Return averages that equal the pooled AUC according to the words and to the diamonds."""
    words, filled = browser.execute_script(
        """
        const rows = arguments[0].map(name => [name, document.querySelector(
          `#averages tr:has([data-terms=${name}])`)]);
        const names = test => rows.filter(([, row]) => test(row)).map(([name]) => name);
        return [names(row => row.textContent.includes("= pooled")),
                names(row => row.querySelector(".diamond.equal"))];
        """,
        AVERAGES,
    )
    assert words == filled
    return set(words)


def set_media(browser, **features):
    features = {name.replace("_", "-"): value for name, value in features.items()}
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name, "value": value} for name, value in features.items()]},
    )


@pytest.fixture(autouse=True)
def still(browser):
    """Disable animations, except in tests of animations."""
    set_media(browser, prefers_reduced_motion="reduce")
    yield
    set_media(browser)


@pytest.fixture
def phone(browser, set_width):
    set_width(390)
    load(browser)
    assert browser.execute_script("return innerWidth") == 390
    return browser


def test_first_view(browser):
    load(browser)
    state, _ = check_numbers(browser)
    assert (state.positives, state.negatives) == UNEQUAL
    assert marked_equal(browser) == set()
    words = by_id(browser, "average-value").find_element("xpath", "ancestor::section").text
    assert " ".join(words.split()) == (
        "Average of the groups\u2019 AUCs macro 0.76 is not ≠ AUC of all rows pooled 0.56"
    )
    assert "no average equals it" in by_id(browser, "verdict").text


def test_any_state(browser):
    random = RNG(0)
    load(browser)
    for _ in range(8):
        n = random.integers(2, 7)
        means = np.round(random.uniform([[-2.5], [-2]], [[2.5], [4.5]], (2, n)), 4)
        means[0, :] = means[0, random.integers(0, n, n) * random.integers(0, 2)]
        counts = 10 * random.integers(1, 101, size=(2, n))
        lists = [",".join(map(str, values)) for values in (*means.tolist(), *counts.tolist())]
        go(
            browser,
            "#mean_negatives={}&mean_positives={}&n_positives={}&n_negatives={}".format(*lists),
        )
        state, numbers = check_numbers(browser)
        assert [state.mean_negatives, state.mean_positives] == means.tolist()
        assert [state.positives, state.negatives] == counts.tolist()
        assert marked_equal(browser) == {
            name for name in AVERAGES if abs(numbers[name] - numbers["pooled"]) < 1e-12
        }


def run_snippet(browser, *spreads):
    """Run the Python of the page; return its names, and what it prints."""
    counts = [10, 20, 370, 40, 50], [600, 70, 80, 90, 100]
    load(browser, PAGE + fragment(*spreads, counts, 0.85))
    namespace, printed = {}, []
    code = by_id(browser, "snippet").get_attribute("textContent")
    exec(code, {"print": printed.append}, namespace)
    _, numbers = check_numbers(browser)
    assert f"# {numbers['pooled']:.2f}" in code
    return namespace, printed, numbers


@pytest.mark.parametrize("case", ["identical", "same_negatives", "same_positives", "different"])
def test_python_has_the_same_numbers(browser, case):
    spreads = (0.7, 0.7) if case == "different" else 1.35 * np.array(CASES[case])
    namespace, printed, numbers = run_snippet(browser, *spreads)
    known = namespace["groups"].population
    assert printed == [known["pooled"]]
    for name in STATISTICS:
        assert known[name] == pytest.approx(numbers[name], abs=1e-9), name
    assert_allclose([numbers[f"{g}"] for g in range(1, 6)], known["by_group"], atol=1e-9)
    matrix = [[numbers[f"{g},{h}"] for h in range(1, 6)] for g in range(1, 6)]
    assert_allclose(matrix, known["cross_matrix"], atol=1e-9)


def test_python_draws_rows_of_other_means(browser):
    namespace, printed, numbers = run_snippet(browser, 0.5, 2.2)
    report = namespace["report"]
    assert printed == [report.pooled]
    for name in ("pooled", *AVERAGES):  # four to eight standard errors
        assert report.statistic(name) == pytest.approx(numbers[name], abs=0.1), name


def rows_of(browser):
    """Return the labels, scores and groups of the drawn rows."""
    rows = browser.execute_script(
        "const rows = drawRows(groupsOf(state), state.seed);"
        "return [rows.negatives.map(part => [...part]), rows.positives.map(part => [...part])]"
    )
    cells = [(y, g, scores) for y, of_class in enumerate(rows) for g, scores in enumerate(of_class)]
    sizes = [len(scores) for *_, scores in cells]
    y_true, groups = (np.repeat([cell[i] for cell in cells], sizes) for i in (0, 1))
    return y_true, np.concatenate([scores for *_, scores in cells]), groups + 1


@pytest.mark.parametrize(
    "hash_",
    [
        fragment(0, 1.5, seed=1),
        fragment(1, 2, ([10, 990, 350, 40, 20, 1000], [310, 20, 10, 500, 90, 60]), 0.2, seed=77),
    ],
)
def test_sampled_numbers_are_those_of_the_package(browser, hash_):
    load(browser, PAGE + hash_)
    wait_until(lambda: browser.execute_script("return spread.limits !== null"))
    state = read_state(browser)
    y_true, y_score, groups = rows_of(browser)
    assert [np.sum(y_true[groups == g]) for g in np.unique(groups)] == state.positives
    # Every group and class has random numbers of its own.
    means = np.array([state.mean_negatives, state.mean_positives])
    deviations = y_score - means[y_true, groups - 1]
    assert len(np.unique(deviations.round(9))) >= len(deviations) - 2
    report = GroupAUC.from_predictions(y_true, y_score, groups=groups)
    numbers = {name: value for name, value, _ in read_numbers(browser)}
    for name in STATISTICS:
        assert numbers[name] == pytest.approx(report.statistic(name), abs=1e-12), name
    own = [numbers[f"{g}"] for g in np.unique(groups)]
    assert_allclose(own, report.by_group["auc"], atol=1e-12)
    for (g, h), auc in np.ndenumerate(report.cross_matrix.to_numpy()):
        assert numbers[f"{g + 1},{h + 1}"] == pytest.approx(auc, abs=1e-12)
    assert numbers["pooled"] != pytest.approx(expected(state)["pooled"], abs=1e-4)

    # The page draws and prints the spread of the draws, which agrees with DeLong's standard errors.
    limits = browser.execute_script("return spread.limits")
    intervals = report.confidence_intervals(method="delong", of="statistics")
    for name in ("pooled", *AVERAGES):
        low, high = limits[name]
        width = intervals.loc[name, "ci_high"] - intervals.loc[name, "ci_low"]
        assert high - low == pytest.approx(width, rel=0.35), name
        assert low < expected(state)[name] < high, name
        row = browser.find_element(CSS, f"#averages tr:has([data-terms={name}])")
        assert f" {low:.2f} to {high:.2f}" in row.text
    said = by_id(browser, "sampling").text
    assert f"{len(y_true):,} drawn rows" in said
    assert "between {:.2f} and {:.2f}".format(*limits["pooled"]) in said


def test_sampling_error_on_and_off(browser):
    load(browser, PAGE + fragment(0, 1.5))
    before = read_numbers(browser)
    by_id(browser, "sampled").click()
    first = read_numbers(browser)
    assert first != before
    assert {name for name, _, _ in first} == {name for name, _, _ in before}
    assert len(browser.find_elements(CSS, "#groups .area.rows")) == 8
    by_id(browser, "again").click()
    second = read_numbers(browser)
    assert second != first
    wait_until(lambda: "seed=2" in browser.current_url)
    load(browser, browser.current_url)
    assert read_numbers(browser) == second
    go(browser, fragment(0, 1.5, seed=1))
    assert read_numbers(browser) == first
    by_id(browser, "sampled").click()
    assert read_numbers(browser) == before
    assert not by_id(browser, "sampling").is_displayed()
    wait_until(lambda: "seed" not in browser.current_url)


def test_drawn_rows_are_normal_and_independent(browser):
    load(browser)
    drawn = np.array(
        browser.execute_script(
            "const draw = (seed, draw, stream) => "
            "[...normals(generator(seed, draw, stream), 0, 3000)];"
            "return [[1, 0, 0], [1, 0, 1], [2, 0, 0], [-1, 1, 0], [-1, 2, 0], [999999, 0, 11]]"
            ".map(numbers => draw(...numbers))"
        )
    )
    for numbers in drawn:
        assert kstest(numbers, "norm").pvalue > 0.001
    correlations = np.corrcoef(drawn)[np.triu_indices(len(drawn), 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(3000)
    # Ties of a positive and a negative count one half.
    auc = browser.execute_script("return aucOfSorted([1, 2, 2, 3], [0, 2, 2, 5])")
    assert auc == (1 + 2 + 2 + 3) / 16


def test_presets(browser):
    load(browser)
    for case, counts in itertools.product(CASES, ["equal", "unequal"]):
        go(browser, fragment(0.35, 2.2, ([10, 20], [30, 40])))
        for selector in (f"[data-case={case}]", f"[data-counts={counts}]"):
            browser.find_element(CSS, selector).click()
        pressed = browser.find_elements(CSS, "button[aria-pressed=true]")
        assert [button.get_attribute("data-case") for button in pressed] == [case, None]
        assert pressed[1].get_attribute("data-counts") == counts
        state, _ = check_numbers(browser)
        shifted = np.ptp(state.mean_negatives) > 0, np.ptp(state.mean_positives) > 0
        assert shifted == CASES[case]
        is_equal = len(set(state.positives)) == len(set(state.negatives)) == 1
        assert is_equal == (counts == "equal")
        equal = {
            "identical": set(AVERAGES),
            "same_negatives": set(AVERAGES) if counts == "equal" else {"positives"},
            "same_positives": set(AVERAGES) if counts == "equal" else {"negatives"},
        }
        assert marked_equal(browser) == equal.get(case, set())


def pixels_per_unit(browser):
    return browser.execute_script(
        "return document.querySelector('#groups .pane').getBoundingClientRect().width"
        " / (SCORES.high - SCORES.low)"
    )


def handle_at(browser, name):
    return browser.execute_script(
        "const input = document.getElementById(arguments[0]);"
        "input.scrollIntoView({block: 'center'});"
        "const box = input.nextElementSibling.getBoundingClientRect();"
        "return [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)]",
        name,
    )


def test_drag_a_density_with_the_mouse(browser):
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    load(browser, PAGE + fragment(0, 1.5, average="samples"))
    x, y = handle_at(browser, "mean-negatives-4")
    before = read_state(browser)
    chain = ActionBuilder(browser, duration=20)
    pointer = chain.pointer_action
    pointer.move_to_location(x + 2, y).pointer_down()
    for part in (0.3, 0.6, 1):
        pointer.move_to_location(round(x + 2 - part * 0.5 * pixels_per_unit(browser)), y)
    pointer.pointer_up()
    chain.perform()
    state, _ = check_numbers(browser)
    assert_allclose(state.mean_negatives, before.mean_negatives - np.eye(4)[3] / 2, atol=0.051)
    assert state.mean_positives == before.mean_positives
    # The slider of the curve has the focus, so that the arrow keys continue.
    assert browser.switch_to.active_element.get_attribute("id") == "mean-negatives-4"
    current = browser.find_elements(CSS, "#roc .current")
    assert [curve.get_attribute("data-group") for curve in current] == ["4"]
    assert browser.find_element(CSS, "[aria-pressed=true]").get_attribute("data-case") == "neither"


def test_keyboard(browser):
    from selenium.webdriver import Keys

    load(browser)
    for name, step in {
        "mean-positives-2": 0.05,
        "mean-negatives-4": 0.05,
        "spread-negatives": 0.05,
        "spread-positives": 0.05,
        "separation": 0.05,
        "positives-2": 10,
        "negatives-3": 10,
        "n-groups": 1,
    }.items():
        go(browser, fragment(0.5, 1.5))
        focus(browser, name)
        slider = by_id(browser, name)
        value = float(slider.get_attribute("value"))
        for key, reached in [
            (Keys.ARROW_RIGHT, value + step),
            (Keys.HOME, float(slider.get_attribute("min"))),
        ]:
            press(browser, key)
            assert float(slider.get_attribute("value")) == pytest.approx(reached, abs=1e-9), name
            _, numbers = check_numbers(browser)
            said = slider.get_attribute("aria-valuetext")
            if name.startswith("mean"):
                auc = numbers[name[-1]]
                words = f"{reached:.2f} standard deviations, AUC of the group {auc:.2f}"
            elif name[0] in "ps" and name != "positives-2":
                words = f"{reached:.2f} standard deviations"
            else:
                words = f"{reached:.0f} {name.rstrip('-123').removeprefix('n-')}"
            assert said == words


def test_spread_keeps_the_pattern_and_the_middle(browser):
    from selenium.webdriver import Keys

    load(browser, f"{PAGE}#mean_positives=0,2,1.6,0.4&mean_negatives=0,0,0.5,0")
    focus(browser, "spread-positives")
    press(browser, Keys.ARROW_LEFT * 4)
    state, _ = check_numbers(browser)
    assert_allclose(state.mean_positives, [0.1, 1.9, 1.54, 0.46], atol=1e-3)
    press(browser, Keys.HOME, Keys.ARROW_RIGHT * 2)  # equal means become evenly spaced
    assert_allclose(read_state(browser).mean_positives, means_of(1, 0.1, 4), atol=1e-3)
    focus(browser, "separation")
    press(browser, Keys.HOME)
    state, _ = check_numbers(browser)
    assert np.mean(state.mean_positives) == pytest.approx(0.125, abs=1e-3)
    assert state.mean_negatives == [0, 0, 0.5, 0]


def test_tab_reaches_every_control_in_the_order_of_the_page(browser):
    from selenium.webdriver import Keys

    load(browser)
    controls = browser.execute_script(
        """
        window.focused = [];
        addEventListener("focusin", ({ target }) => {
          const shown = target.matches(".movable input") ? target.nextElementSibling : target;
          const style = getComputedStyle(shown);
          focused.push([target, style.outlineStyle, style.outlineWidth]);
        });
        return [...document.querySelectorAll("a, button, input, select, summary")].filter(
          control => control.checkVisibility() && !control.disabled);
        """
    )
    assert len(controls) == 1 + 7 + 8 + 1 + 2 + 1 + 4 + 1 + 8 + 5 + 4
    press(browser, Keys.TAB * len(controls))
    focused = browser.execute_script("return focused")
    assert [control for control, *_ in focused] == controls
    assert {tuple(style) for _, *style in focused} == {("solid", "3px")}


def test_the_copied_link_restores_the_state(browser):
    from selenium.webdriver import Keys

    load(browser)
    for name in ("spread-negatives", "mean-positives-3", "positives-2", "n-groups"):
        focus(browser, name)
        press(browser, Keys.HOME, Keys.ARROW_RIGHT)
    for name in ("heights", "three-digits", "sampled", "again"):
        by_id(browser, name).click()
    focus(browser, "average")
    press(browser, Keys.ARROW_DOWN * 2)
    wait_until(lambda: by_id(browser, "average-name").text == "positives")
    before, numbers = read_state(browser), read_numbers(browser)
    assert (before.seed, before.sampled, before.digits) == (2, True, 3)
    value = {name: text for name, _, text in numbers}["positives"]
    assert by_id(browser, "average-value").text == value
    url = copied(browser, "share", "shared")
    assert url == browser.current_url
    load(browser, url)
    assert vars(read_state(browser)) == vars(before)
    assert read_numbers(browser) == numbers
    assert not by_id(browser, "heights").is_selected()
    assert copied(browser, "copy", "copied") == by_id(browser, "snippet").text


def copied(browser, button, status):
    """Press a button that copies text; return the text that is then pasted."""
    from selenium.webdriver import Keys

    open_details(browser)
    by_id(browser, button).click()
    wait_until(lambda: by_id(browser, status).text != "")
    if by_id(browser, status).text != "Copied":  # without a copy, the page selects the text
        browser.switch_to.active_element.send_keys(Keys.CONTROL, "c")
    browser.execute_script(
        "const area = document.createElement('textarea'); document.body.append(area); area.focus()"
    )
    browser.switch_to.active_element.send_keys(Keys.CONTROL, "v")
    return browser.switch_to.active_element.get_attribute("value")


def test_what_the_link_has_wrong_is_left_out(browser):
    load(browser)
    usual = vars(read_state(browser))
    for wrong in (
        "#n_positives=1,2,3&n_negatives=1,2",
        "#n_positives=500&n_negatives=500",
        "#n_positives=1,2,3,4,5,6,7&n_negatives=1,2,3,4,5,6,7",
        "#n_positives=10,,30,40&n_negatives=10,20,30,40",
        "#mean_positives=much,1,2,NaN&mean_negatives=",
        "#average=best&digits=9&seed=one",
        "#<b>",
        "#%",
    ):
        go(browser, wrong)
        assert vars(check_numbers(browser)[0]) == usual, wrong
    go(browser, "#mean_negatives=-9,99&mean_positives=1e9,0&n_positives=0,5000&n_negatives=1,14")
    state, _ = check_numbers(browser)
    assert state.mean_negatives == [-2.5, 4.5]
    assert state.mean_positives == [4.5, 0]
    assert (state.positives, state.negatives) == ([10, 1000], [10, 10])


def test_a_link_is_followed_if_the_address_is_written_at_the_same_time(browser):
    load(browser)
    target, shown = browser.execute_async_script(
        """
        const done = arguments[0];
        const target = document.querySelector(".try a").hash;
        addEventListener("hashchange", () => setTimeout(
          () => done([target, hashOf(state)])), { once: true });
        location.hash = target; // the event comes later
        writeHash();
        """
    )
    assert shown == target


def test_suggestions_keep_their_promises(browser):
    load(browser)
    found = {}
    for link in browser.find_elements(CSS, ".try a"):
        target = link.get_attribute("hash")
        link.click()
        wait_until(lambda target=target: browser.execute_script("return hashOf(state)") == target)
        state, numbers = check_numbers(browser)
        own = [numbers[f"{g + 1}"] for g in range(len(state.positives))]
        name = " ".join(link.text.split())
        found[name] = marked_equal(browser), numbers["pooled"], min(own), max(own)
    _, pooled, low, high = found.pop("Equally good groups, a lower pooled AUC")
    assert pooled < low == pytest.approx(high, abs=1e-12)
    _, pooled, low, high = found.pop("A pooled AUC above that of every group")
    assert pooled > high
    _, pooled, low, high = found.pop("A pooled AUC below 0.5")
    assert pooled < 0.5 < 0.7 < low
    # docs/explanation/federated.md has this number
    equal, pooled, *_ = found.pop("Equal numbers of positives are not enough")
    assert equal == {"negatives", "within"}
    assert pooled == pytest.approx(0.662, abs=5e-4)
    equal, *_ = found.pop("Equal class counts hide the difference")
    assert equal == set(AVERAGES)
    assert found == {}


VERDICTS = [
    (fragment(0, 0), "every average equals the pooled AUC", "coincidence"),
    (fragment(0, 1), "by positives therefore equals the pooled AUC.", "negatives equals"),
    (fragment(1, 0), "by negatives therefore equals the pooled AUC.", "positives equals"),
    (fragment(0, 1, EQUAL), "With equal class counts, all averages", "other weights"),
    # All groups have equal numbers of positives, so macro and positives have equal weights.
    (
        fragment(0, 1, ([200, 200], [100, 900])),
        "With these counts macro has the same weights.",
        "coincidence",
    ),
    # Without separation, AUCs are 0.5, or symmetric around 0.5.
    (
        fragment(0, 1, ([100, 400, 100], [300, 50, 80]), separation=0),
        "By coincidence, macro equals it as well.",
        "same weights",
    ),
    (fragment(2, 2), "no average equals it", "coincidence"),
    # Without separation, all groups have an AUC of 0.5, and cross AUCs are symmetric.
    (fragment(2, 2, EQUAL, separation=0), "by coincidence", "no average"),
    (fragment(1, 2), "no average has to equal the pooled AUC", "coincidence"),
]


def test_verdict(browser):
    load(browser, PAGE + fragment(0.4, 1.5))
    for hash_, words, not_said in VERDICTS:
        go(browser, hash_)
        verdict = by_id(browser, "verdict").text
        assert words in verdict, hash_
        assert not_said not in verdict, hash_


def test_numbers_are_said_when_a_change_has_ended(browser):
    from selenium.webdriver import Keys

    load(browser, PAGE + fragment(0, 1.5))
    browser.execute_script(
        "window.said = [];"
        "new MutationObserver(() => said.push(document.getElementById('announcement').textContent))"
        ".observe(document.getElementById('announcement'), {childList: true})"
    )

    def said(n):
        wait_until(lambda: len(browser.execute_script("return said")) == n)
        return browser.execute_script("return said.at(-1)")

    focus(browser, "separation")
    press(browser, Keys.ARROW_RIGHT * 5)
    words = said(1)  # five steps cause one announcement
    _, numbers = check_numbers(browser)
    assert words.startswith(f"Pooled {numbers['pooled']:.2f}; macro")
    assert all(f"{name} {numbers[name]:.2f}" in words for name in AVERAGES)
    assert words.endswith(by_id(browser, "verdict").text)
    press(browser, Keys.ARROW_LEFT)
    # The unchanged reason is not announced again
    assert by_id(browser, "verdict").text not in said(2)


SIDEWAYS = """
const page = document.scrollingElement;
const beyond = [...document.querySelectorAll("body *")].filter(part => part.checkVisibility() &&
  !part.closest("svg, .unseen, .skip-link, dialog") &&
  part.getBoundingClientRect().right > innerWidth);
return [page.scrollWidth - page.clientWidth, beyond.map(part => part.outerHTML)];
"""


def test_a_phone_needs_no_sideways_scrolling(phone):
    for hash_ in ("", fragment(3, 3, ([1000] * 6, [1000] * 6), 2.5, seed=3, digits=3)):
        load(phone, PAGE + hash_)
        open_details(phone)
        wait_until(lambda hash_=hash_: not hash_ or phone.execute_script("return !!spread.limits"))
        beyond, parts = phone.execute_script(SIDEWAYS)
        assert (beyond, parts) == (0, [])


def test_every_control_can_be_touched_on_a_phone(phone):
    open_details(phone)
    # A label is a part of its checkbox; the plot of a group is the target of its two handles.
    targets = phone.execute_script(
        """
        const targets = [...document.querySelectorAll(
          ".explorer :is(button, select, summary, .pane.movable, p:has(> input), " +
          "input[type=range]:not(.movable input))")].filter(target => target.checkVisibility());
        const look = target => {
          // Keyboard focus scrolls to a control; sticky elements must not cover the control.
          target.scrollIntoView({ block: "nearest" });
          const box = target.getBoundingClientRect();
          const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
          return [target.outerHTML, target.contains(top), box.width, box.height];
        };
        return [...targets.map(look), ...targets.reverse().map(look)];
        """
    )
    assert len(targets) == 2 * (7 + 4 + 1 + 3 + 3 + 4 + 8 + 4)
    for html, on_top, width, height in targets:
        assert on_top, html
        assert min(width, height) >= 44, html


LOADED = "return performance.getEntriesByType('resource').map(entry => entry.name)"


def test_the_own_page_is_accessible_and_loads_nothing_from_elsewhere(browser, axe, serve):
    origin = serve(FOLDER) + "/"
    load(browser, origin + "index.html")
    check_numbers(browser)
    loaded = browser.execute_script(LOADED)
    by_id(browser, "sampled").click()
    violations, _ = axe()
    assert violations == []
    files = {path.name for path in FOLDER.iterdir()} - {"index.html"}
    assert {name for name in loaded if not name.startswith("data:")} == {
        origin + name for name in files
    }
    for path in FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        for call in ("fetch(", "XMLHttpRequest", "import(", "@import", "url(", "sendBeacon"):
            assert call not in text, path.name


CONF = """
import sys
sys.path.insert(0, {tools!r})
import explorer_page

project = "skfedauc"
extensions = ["myst_parser"]
root_doc = "explorer"
exclude_patterns = ["generated"]
suppress_warnings = ["myst.xref_missing", "ref.doc"]
html_theme = "pydata_sphinx_theme"
html_static_path = [{static!r}]
html_css_files = ["skfedauc.css"]
html_context = {{"default_mode": "auto"}}
html_sidebars = {{"explorer": []}}
setup = explorer_page.setup
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, needs, serve):
    """The address of the explorer's page in the site's theme, without the other pages."""
    for needed in ("myst_parser", "pydata_sphinx_theme"):
        needs(needed)
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    page = (DOCS / "explorer.md").read_text(encoding="utf-8")
    (source / "explorer.md").write_text(page, encoding="utf-8")
    conf = CONF.format(tools=str(DOCS / "build_tools"), static=str(DOCS / "_static"))
    (source / "conf.py").write_text(conf, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", source, out], check=True)
    return f"{serve(out)}/explorer.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_within_the_site(browser, axe, site, width, set_width):
    set_width(width)
    load(browser, site)
    state, _ = check_numbers(browser)
    assert (state.positives, state.negatives) == UNEQUAL
    origin = site.rpartition("/")[0]
    loaded = browser.execute_script(LOADED)
    assert {name for name in loaded if not name.startswith(("data:", origin))} == set()
    backs = {theme: check_theme(browser, axe, theme) for theme in ("light", "dark")}
    assert backs["light"] > 0.5 > backs["dark"]
    browser.find_element(CSS, "[data-case=identical]").click()
    wait_until(lambda: "mean_positives=1,1,1,1&" in browser.current_url)
    if width < 600:  # the two numbers stay visible, below the header of the site
        top, header = browser.execute_script(
            "document.getElementById('counts-table').scrollIntoView({behavior: 'instant'});"
            "return ['.headline', '.bd-header'].map("
            "name => document.querySelector(name).getBoundingClientRect())"
            ".map((box, i) => i ? box.bottom : box.top)"
        )
        assert header == pytest.approx(top, abs=1)


def check_theme(browser, axe, theme):
    """Check the page in a theme, against the browser's preference; return its luminance."""
    other = {"light": "dark", "dark": "light"}[theme]
    set_media(browser, prefers_color_scheme=other, prefers_reduced_motion="reduce")
    # The theme follows the preference before the next frame, and undoes earlier switches.
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    # axe computes the contrast of texts, and not that of curves.
    *curves, back = browser.execute_script(
        """
        document.documentElement.dataset.theme = arguments[0];
        document.querySelectorAll("body > *").forEach(part => { part.style.transition = "none"; });
        const curves = document.querySelectorAll(
          ".curve, .swatch line, .diamond, .pooled, .disc, path[class^=of-]");
        return [...[...curves].map(curve => getComputedStyle(curve).stroke),
                getComputedStyle(document.querySelector(".explorer")).backgroundColor]
          .map(c => c.match(/[\\d.]+/g).map(Number))
        """,
        theme,
    )
    assert len(curves) > 30
    assert min(contrast(curve, back) for curve in curves) >= 3
    violations, unsure = axe()
    assert violations == []
    # axe computes no contrast for a single character
    assert [part for part in unsure if "≠" not in part[1]] == []
    assert browser.execute_script(SIDEWAYS) == [0, []]
    return luminance(back)
