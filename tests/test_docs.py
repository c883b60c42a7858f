"""The documentation's code prints the documented output, and the API page lists the package."""

import ast
import contextlib
import doctest
import importlib.util
import inspect
import io
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import skfedauc
from benchmarks.calibration import PAGES as CALIBRATION_PAGES
from benchmarks.calibration import TABLES
from benchmarks.calibration.__main__ import replaced
from skfedauc import GroupAUC
from skfedauc.cli.main import main
from skfedauc.report.statistics import AVERAGES, STATISTICS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KINDS = ["tutorials", "how_to", "explanation", "reference"]
FOUND = [*DOCS.glob("*.md"), *(page for kind in KINDS for page in (DOCS / kind).rglob("*.md"))]
FOUND += [ROOT / "CONTRIBUTING.md"]
PAGES = sorted(
    page for page in FOUND if page.parent.name != "calibration"
)  # the build writes these
API_PAGE = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")


def public_members(cls):
    """Return the names of public methods and properties that the package defines."""
    # The default of a field is an attribute of the class, not a member.
    fields = set(getattr(cls, "__dataclass_fields__", {}))
    for name in sorted(set(dir(cls)) - fields):
        owner = next((base for base in inspect.getmro(cls) if name in vars(base)), None)
        made_here = owner is not None and owner.__module__.startswith("skfedauc")
        # scikit-learn adds set_..._request for each parameter that can be routed.
        if made_here and not name.startswith("_") and not re.fullmatch("set_.*_request", name):
            yield name


# Names that users import, with the module if it is not skfedauc itself.
PUBLIC = {name: getattr(skfedauc, name) for name in skfedauc.__all__}
for module in skfedauc._PUBLIC_MODULES:
    public = getattr(skfedauc, module)
    PUBLIC |= {f"{module}.{name}": getattr(public, name) for name in public.__all__}


def code_blocks(page):
    """Yield the language, the number of the first line, and the text of each block of code."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        yield block[1], text.count("\n", 0, block.start(2)), block[2]


def enter(folder, monkeypatch):
    """Change the working directory, and stop joblib's workers, which would keep the old one."""
    get_reusable_executor().shutdown()
    monkeypatch.chdir(folder)


def run_python(block, line, namespace, page):
    """Run ``>>>`` lines, and compare the output with the lines below."""
    test = doctest.DocTestParser().get_doctest(block, namespace, page.name, str(page), line)
    # doctest does not run lines before the first prompt.
    assert block.startswith(">>> ")
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    namespace.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()


def run_script(block, line, namespace, page):
    """Run a block without prompts, with line numbers of the page, and return the output."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile("\n" * line + block, str(page), "exec"), namespace)
    return printed.getvalue()


def run_commands(block):
    """Run the command line, and compare the output except for identifiers and sizes."""
    for command in filter(None, re.split(r"^\$ ", block, flags=re.MULTILINE)):
        line, _, promised = command.partition("\n")
        program, *arguments = shlex.split(line)
        assert program == "skfedauc"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(arguments) == 0
        assert words_of(printed.getvalue()) == words_of(promised)


def words_of(printed):
    """Return the words except those that differ between two files of the same counts."""
    printed = re.sub(r"\b[0-9a-f]{32}\b", "IDENTIFIER", printed)
    printed = re.sub(r"\baudit\s[0-9a-f]{8}\b", "audit IDENTIFIER", printed)
    printed = re.sub(r"\bskfedauc \d[^\s,]*", "skfedauc VERSION", printed)
    return re.sub(r"\b[\d,]+ bytes\b", "N bytes", printed).split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_give_what_stands_below_them(page, monkeypatch, tmp_path):
    for table in (DOCS / "data").glob("*.csv"):
        shutil.copy(table, tmp_path)
    enter(tmp_path, monkeypatch)
    namespace = {"__name__": "page"}
    printed = ""
    for language, line, block in code_blocks(page):
        # The page shows the output of a script below the script.
        assert printed == (block if language == "text" else "")
        printed = ""
        if language == "python" and not block.startswith(">>> "):
            printed = run_script(block, line, namespace, page)
        elif language == "python":
            run_python(block, line, namespace, page)
        elif language == "console":
            run_commands(block)
        else:
            # `sh` has commands that set up a machine, which CI runs. `pycon` needs a package that
            # the `test` extra does not install: tests/engines runs it, or it needs MLflow.
            assert language in ("text", "sh", "pycon")


def test_files_of_data_are_those_that_their_scripts_make():
    make_hospital = load("make_hospitals", "data").make_hospital
    for name, made in (
        ("patients", load("make_patients", "data").make_patients()),
        ("held_out", load("make_held_out", "data").make_held_out()),
        ("oslo", make_hospital("oslo")),
        ("bern", make_hospital("bern")),
    ):
        expected = pd.read_csv(DOCS / "data" / f"{name}.csv")
        pd.testing.assert_frame_equal(made.reset_index(drop=True), expected, check_dtype=False)


# The section on returned objects; all other sections list names that users import.
IMPORTED, _, OTHERS = API_PAGE.partition("Returned objects")
RETURNED, *_ = OTHERS.partition("Formulas")


def listed(page):
    return re.findall(r"^   ([A-Za-z_.]+)$", page, flags=re.MULTILINE)


def test_the_api_page_lists_every_public_name_and_nothing_else():
    assert sorted(listed(IMPORTED)) == sorted(PUBLIC)


def functions_of(name):
    """Return the function with a public name, or the public methods and properties of a class."""
    thing = PUBLIC[name]
    if not inspect.isclass(thing):
        return [thing]
    members = [inspect.getattr_static(thing, member) for member in public_members(thing)]
    # Take the function of a classmethod, a property or a cached property.
    return [
        getattr(m, "__func__", None) or getattr(m, "fget", None) or getattr(m, "func", m)
        for m in members
    ]


def returned_classes():
    """Return the classes of the package that functions return, except those that users import."""
    for function in (f for name in PUBLIC for f in functions_of(name)):
        annotation = getattr(function, "__annotations__", {}).get("return", "")
        for word in re.findall(r"\w+", str(annotation)):
            found = getattr(inspect.getmodule(function), word, None)
            if inspect.isclass(found) and found.__module__.startswith("skfedauc"):
                yield found


def test_the_api_page_lists_what_functions_return():
    public = set(PUBLIC.values())
    shown = set()
    for dotted in listed(RETURNED):
        module, _, name = dotted.rpartition(".")
        shown.add(getattr(importlib.import_module(f"skfedauc.{module}"), name))
    # Annotations do not name all classes, such as the classes in a DataFrame or in a list.
    assert set(returned_classes()) - public <= shown


# Checks of numpydoc to omit; scikit-learn omits the same checks except ES01.
NOT_CHECKED = {
    "ES01": "a complete summary needs no second paragraph",
    "RT02": "a returned value may have a name: Yields `train`, `test`",
}
# Checks to omit for methods and properties, which are on the page of their class
NOT_CHECKED_OF_MEMBERS = {
    "EX01": "the example of the class may show the method",
    "SA01": "related methods are on the same page",
}


# Public names and members of public classes, with the objects that have the docstrings
DOCUMENTED = dict(PUBLIC)
for name, thing in PUBLIC.items():
    members = public_members(thing) if inspect.isclass(thing) else ()
    DOCUMENTED |= {f"{name}.{member}": getattr(thing, member) for member in members}


def test_docstrings_are_as_numpydoc_wants_them():
    wrong = {}
    for name in DOCUMENTED:
        exceptions = NOT_CHECKED if name in PUBLIC else NOT_CHECKED | NOT_CHECKED_OF_MEMBERS
        found = validate(f"skfedauc.{name}")["errors"]
        wrong[name] = [error for error in found if error[0] not in exceptions]
    assert not any(wrong.values()), wrong


def test_docstrings_have_the_defaults_of_the_signatures():
    wrong, n_compared = [], 0
    for name, thing in DOCUMENTED.items():
        if not callable(thing) or thing is skfedauc.DisclosureError:  # the class has no signature
            continue
        types = {
            parameter.strip("* "): entry.type
            for entry in NumpyDocString(inspect.getdoc(thing))["Parameters"]
            for parameter in entry.name.split(",")
        }
        for parameter in inspect.signature(thing).parameters.values():
            if parameter.name not in types or parameter.default is parameter.empty:
                continue
            _, _, default = types[parameter.name].partition("default=")
            n_compared += 1
            try:
                agrees = ast.literal_eval(default) == parameter.default
            except (SyntaxError, ValueError):
                agrees = default == str(parameter.default)
            if not agrees:
                wrong.append(f"{name}: {parameter}, {types[parameter.name]}")
    assert wrong == []
    assert n_compared > 200


def load(name, folder="build_tools"):
    """Import a module of the documentation, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_and_the_guide_show_each_room_above_those_it_imports_from():
    architecture = load("architecture")
    by_level, needed = architecture.levels()
    level_of = {name: level for level, names in enumerate(by_level) for name in names}
    assert all(level_of[below] < level_of[name] for name in needed for below in needed[name])
    texts = ElementTree.fromstring(architecture.svg()).iter("text")
    shown = {text.text for text in texts if text.get("class") == "name"}
    assert shown == level_of.keys() == architecture.rooms().keys()
    # Most changes of `metrics` and `datasets` follow from changes of the report.
    guide = (DOCS / "explanation" / "how_it_works.md").read_text(encoding="utf-8")
    assert shown - {"metrics", "datasets"} <= set(re.findall(r"`(\w+)(?:/|\.py)", guide))


def test_the_landing_page_says_what_its_code_computes():
    landing = load("landing")
    report = landing.report()
    svg = ElementTree.fromstring(landing.plot())
    texts = [t.text for t in svg.iter("text") if t.get("class") != "axis"]
    groups = report.by_group["auc"].sort_values(ascending=False)
    shown = {
        "all rows together": report.pooled,
        **groups,
        "average of groups": report.average("macro"),
    }
    assert texts == [text for name, auc in shown.items() for text in (name, f"{auc:.2f}")]
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"{report.by_group.iloc[:, 1:].to_numpy().sum()} patients" in page
    assert f"(pooled AUC) is {report.pooled:.2f}" in page
    assert (groups < report.pooled).all()
    assert report.decomposition().share_within == pytest.approx(1 / 4, abs=0.01)
    # The body mass index orders 85 % of the pairs of two groups.
    measured, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    _, measured, _, label = train_test_split(
        measured, progression > 140, test_size=0.5, random_state=0
    )
    group = pd.cut(measured["bmi"], [0, 25, 30, 99], right=False, labels=False)
    cross = GroupAUC.from_predictions(label, measured["bmi"], groups=group).decomposition().cross
    assert f"{cross:.0%}".replace("%", " %") in page


def test_the_page_on_versions_has_the_oldest_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = dict(entry.split(">=") for entry in project["dependencies"])
    page = text_of("versions")
    names, _, versions = (line.split("|")[2:-1] for line in re.findall(r"^\|.*$", page, re.M)[:3])
    listed = {a.strip(): b.strip() for a, b in zip(names, versions, strict=True)}
    assert listed.pop("Python") == f"{project['requires-python'].removeprefix('>=')} and newer"
    assert len(listed) == 5
    for name, version in listed.items():
        assert version == f"{oldest[name]} and newer"


def test_links_that_lead_nowhere_are_found(tmp_path):
    pages = {
        "a.html": '<h1 id="top"></h1><a href="b/c.html#here">to c</a>',
        "b/c.html": '<p id="here"><a href="../a.html#top">good</a><a href="../a.html#no">bad</a>'
        '<img src="no.png"><a href="https://example.org/no">elsewhere</a>'
        '<a href="../a.html#n=3">settings</a></p>',
        "d.html": '<a href="b/c.html?path=good.ipynb">good</a>'
        '<a href="b/c.html?path=no.ipynb">bad</a>',
        "files/good.ipynb": "",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    bad = ["b/c.html: ../a.html#no", "b/c.html: no.png", "d.html: b/c.html?path=no.ipynb"]
    assert load("check_links").broken(tmp_path) == bad


def test_each_example_has_a_place_in_the_gallery():
    names = {path.stem.removeprefix("plot_") for path in DOCS.glob("examples/plot_*.py")}
    assert sorted(load("gallery_images").ORDER) == sorted(names)


def test_every_table_of_the_page_on_calibration_is_drawn():
    plots = load("calibration_plots")
    page = text_of("calibration")
    of = {table.title: table.plots for table in TABLES if table.plots}
    drawn = plots.with_plots(page, of).split("\n## ")[1:]
    without = [part.split("\n")[0] for part in drawn if "<svg" not in part]
    # One has other designs in each line, the other a single line of numbers.
    single = "Bound of the difference from the pooled AUC"
    assert without == ["The worst design of each method", single]


def test_each_table_on_calibration_is_on_the_page_of_its_topic(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "build_tools")
    pages = load("calibration_pages")
    source = pages.SOURCE.read_text(encoding="utf-8")
    parts = pages.parts(source)
    assert "\n".join(parts.values()) == source
    # The file has the topics and the tables of the simulations, in their order.
    overview, *topics = parts.values()
    found = [
        (topic.split("\n")[0].removeprefix("# "), re.findall(r"^## (.*)$", topic, re.MULTILINE))
        for topic in topics
    ]
    assert found == [(k, [table.title for table in v]) for k, v in CALIBRATION_PAGES.items()]
    assert "\n## " not in overview
    # The overview links each topic, on the site by its page.
    drawn = pages.overview(source)
    for name, (title, _) in zip(list(parts)[1:], found, strict=True):
        assert f"| [{title}](calibration/{name}.md#" in drawn
        assert f"\ncalibration/{name}\n" in drawn
    # Rates in the overview are those of the text or the tables of the topic.
    for row in re.findall(r"^\| \[.*$", overview, re.MULTILINE):
        _, title, holds, fails, _ = row.split("|")
        topic = next(part for part in topics if part.startswith(f"# {title.split(']')[0][2:]}\n"))
        for rate in re.findall(r"\d+\.\d", holds + fails):
            assert re.search(rf"(?<![\d.]){re.escape(rate)}(?![\d.])", topic), (title, rate)


def test_a_new_simulation_of_a_table_keeps_the_other_parts_of_calibration():
    source = text_of("calibration")
    assert replaced(source, {}) == source
    # The last table of a topic, before the text of the next topic
    section = "## Worst and difference\n\nNew. 5 runs per line.\n"
    after = replaced(source, {"Worst and difference": section})
    before, old = source.split("## Worst and difference\n")
    assert after == before + section + "\n# " + old.split("\n# ", 1)[1]


def text_of(page):
    return (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")


def rates(title, column, *, of=""):
    """Smallest and largest number of a column, in the lines whose name has this pattern."""
    section = text_of("calibration").split(f"\n## {title}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\|(.*)\|$", section, flags=re.MULTILINE)
    columns, _, *lines = ([cell.strip() for cell in row.split("|")] for row in rows)
    cells = [line[columns.index(column)] for line in lines if re.search(of, line[0])]
    found = [float(cell) for cell in cells if cell]
    return min(found), max(found)


def test_rates_in_the_text_of_the_calibration_page_are_those_of_its_tables():
    _, *topics = text_of("calibration").split("\n# ")
    n_quoted = 0
    for topic in topics:
        text, *tables = topic.split("\n## ")
        known = set(re.findall(r"(?<![\d.])\d+\.\d(?![\d.])", " ".join(tables)))
        known |= {f"{100 - float(rate):.1f}" for rate in known}
        text = " ".join(text.split())
        quoted = set(re.findall(r"(?<![\d.])(\d+\.\d)(?= (?:%|to \d|and \d))", text))
        assert quoted - ELSEWHERE <= known, text
        n_quoted += len(quoted)
    assert n_quoted > 40


# Rates of another topic's table, "Unequal spread and mixtures"
ELSEWHERE = {"9.7", "14.8", "5.1"}


def test_rates_quoted_elsewhere_are_those_of_the_tables():
    gaps, persons, plans = (
        (DOCS / "how_to" / f"{n}.md").read_text() for n in ("gap_real", "clusters", "how_many_rows")
    )
    unequal, clusters = "Unequal spread and mixtures", "One AUC of clustered rows"
    few = r"^(8|10|20)/.*ratio"
    power, tests = "Power of tests of equal groups", ("equal groups", "largest difference")
    for found, digits, texts in [
        (rates(unequal, "logit", of=few), 0, [gaps]),
        (rates(unequal, "worst", of=few), 1, [plans]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by cluster"), 0, [persons]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by row"), 0, [persons]),
        (rates(clusters, "with clusters", of="to 20, 0.3"), 0, [persons]),
        (rates("Planned numbers of rows", "power"), 1, [plans, skfedauc.rows_needed.__doc__]),
    ]:
        quoted = " to ".join(f"{rate:.{digits}f}" for rate in found).replace("100.0", "100")
        for text in texts:
            assert f"{quoted} %" in " ".join(text.split())
    _, most = rates("Averages that differ from the pooled AUC by delta", "found equivalent")
    assert f"up to {most} %" in " ".join(skfedauc.GroupAUC.agreement.__doc__.split())
    for column in ("equal groups", "equal groups without clusters", "macro"):
        rate, _ = rates("Equal AUCs of groups of clustered rows", column, of="^10 x 20, .*cluster")
        assert f"in {rate} %" in " ".join(persons.split())
    many = [rates(power, test, of="^20 groups of 100/400, 10 lower by 0.05$")[0] for test in tests]
    assert "{:.0f} % against {:.0f} %".format(*many) in " ".join(gaps.split())
    one = {rates(power, test, of="^20 groups of 100/400, 1 lower by 0.1$")[0] for test in tests}
    assert {f"{rate:.0f}" for rate in one} == set(re.findall(r"both have (\d+) %", gaps))
    least = min(
        rates("Interval of one AUC", "logit")[0],
        rates("One AUC with few positives or tied scores", "normal")[0],
        rates("One AUC with few positives or tied scores", "ratio 2")[0],
    )
    assert f"{least:.1f} % or more" in " ".join(gaps.split())


CHOOSE = text_of("choose")
LEAVES = re.findall(r"^ +\[(.+?)\]\((.+?)\): `(.+)`$", CHOOSE, flags=re.MULTILINE)


def values_in(value):
    """Floats in the result of a leaf: the number itself, a table, or the p value of a test."""
    if isinstance(value, pd.DataFrame):
        return value.select_dtypes("number").to_numpy(float).ravel()
    if isinstance(value, pd.Series):
        return np.array([x for x in value if isinstance(x, float)])
    return np.array([value if isinstance(value, float) else value.pvalue])


def test_each_end_of_a_decision_tree_runs():
    (block, *_) = re.findall(r"^```python\n(.*?)^```$", CHOOSE, flags=re.DOTALL | re.MULTILINE)
    names, used = {"__name__": "page"}, set()
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, names)
    for name, _, code in LEAVES:
        value = eval(code, names)
        if isinstance(value, str):
            assert value.startswith("The pooled AUC is ")
        else:
            assert not np.isnan(values_in(value)).all(), code
        if name in STATISTICS:
            used.add(name)
            assert value == names["report"].statistic(name)
    assert used == {"pooled", "worst", "difference", "cross_difference", "tau", *AVERAGES}
    assert len(LEAVES) == CHOOSE.count("): `") == 28


def citation():
    """Entries of CITATION.cff, which is YAML of one level with two lists."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^([\w-]+): +(?!>)\"?(.+?)\"?$", text, flags=re.MULTILINE))
    entries["author"] = " and ".join(re.findall(r"^  - name: (.+)$", text, flags=re.MULTILINE))
    keywords = text.partition("keywords:\n")[2]
    entries["keywords"] = ", ".join(re.findall(r"^  - (.+)$", keywords, flags=re.MULTILINE))
    return entries


def test_the_citation_is_that_of_the_file():
    (block,) = re.findall(r"^@software\{(.*?)^\}$", text_of("citing"), flags=re.DOTALL | re.M)
    shown = {key: value.strip("{}") for key, value in re.findall(r"(\w+) += (\{.*\}),", block)}
    known = citation()
    assert shown == {key: known[key] for key in shown}
    assert shown.keys() == {"author", "title", "version", "license", "keywords"}
    assert known["version"] == skfedauc.__version__


@pytest.mark.parametrize("page", ["fairlearn", "torchmetrics", "proc", "xgboost"])
def test_calls_that_replace_those_of_other_packages_exist(page):
    known = {*dir(skfedauc), *dir(skfedauc.measures), *dir(skfedauc.boosting)}
    for name in ("GroupAUC", "ScoreCounts", "Bins", "FairnessAudit"):
        known |= {*dir(getattr(skfedauc, name))}
    cells = re.findall(r"^\| .* \| (.*) \|$", text_of(f"coming_from/{page}"), flags=re.MULTILINE)
    calls = {name for cell in cells for name in re.findall(r"(\w+)\(", cell)}
    assert calls
    assert calls <= known
