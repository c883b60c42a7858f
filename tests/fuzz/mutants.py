"""Mutation test: bugs in a copy of the package, which the random cases must detect.

``python tests/fuzz/mutants.py`` inserts the bugs of the Python code, one at a time. ``--compiled``
also builds the compiled kernel once, with all bugs of its code, of which one is switched on at a
time:

    pip install "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" ninja
    python tests/fuzz/mutants.py --compiled

The script prints a table of the bugs with the number of cases until each bug was detected. The
script fails if the cases do not detect a bug, or if the copy without a bug fails. Bugs in code that
random cases do not run are planted before a part of the test suite, which must fail.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parents[1]
# Most random cases for each bug, and for the copy without a bug. The number of cases in a given
# time would depend on the machine.
CASES, CASES_WITHOUT = 4000, 400
# Seconds of processor time after which a case does not end
SECONDS_OF_CASE = 60


class Mutant(NamedTuple):
    """A bug: a text that occurs once in a file of the package, and its replacement."""

    what: str
    file: str
    old: str
    new: str
    tests: str = ""  # that must fail with a bug in code that random cases do not run
    seed: int = 0  # of the first random case, for a bug that few cases meet


NUMPY = "_kernel/_numpy.py"
RANDOM = [
    Mutant("ties count as concordant", NUMPY, "(ranks[1 - side][0] +", "(ranks[1 - side][1] +"),
    Mutant("negatives of groups before count", NUMPY, "up_to -= np.repeat(", "_ = np.repeat("),
    Mutant("groups share a cell", NUMPY, " | (groups[1:] != groups[:-1])", ""),
    Mutant("squares of weights are weights", NUMPY, "*(np.square(column) for", "*(column for"),
    Mutant("-0.0 is kept", NUMPY, "scores.astype(np.float64) + 0.0", "scores.astype(np.float64)"),
    Mutant(
        "of ties across groups one counts", NUMPY, "in tied[positives[tied] > 0]", "in tied[:1]"
    ),
    Mutant(
        "equal cells are not added up",
        "_kernel/__init__.py",
        "of_class[:] = np.bincount(cell, column, n_cells)",
        "of_class[:] = np.bincount(cell, column > 0, n_cells)",
    ),
    Mutant("characters collide", "_group_codes.py", "- low + 1\n", "- low\n"),
    Mutant(
        "unused groups keep their number",
        "_group_codes.py",
        "(np.cumsum(used) - 1)[codes]",
        "np.arange(used.size)[codes]",
    ),
    Mutant("rows of weight 0 count", "_rows.py", "else weights > 0\n", "else weights >= 0\n"),
    Mutant(
        "rows left out are miscounted",
        "_rows.py",
        "lacking = lacks_label if",
        "lacking = ~lacks_label if",
    ),
    Mutant(
        "rows without weights weigh 2 squared",
        "counts/moments.py",
        "np.concatenate([counts, counts])",
        "np.concatenate([counts, 2 * counts])",
    ),
    Mutant(
        "merged groups have the first one's numbers",
        "counts/merging.py",
        "merge_cells(cells, numbers, n_groups)",
        "merge_cells(cells, [numbers[0][: n.size] for n in numbers], n_groups)",
    ),
]
COMPILED = [
    Mutant(
        "negative scores are reversed",
        "_kernel/keys.h",
        "bits & SIGN<Key> ? ~Key(0) : SIGN<Key>",
        "SIGN<Key>",
    ),
    Mutant("-0.0 is kept", "_kernel/keys.h", "(score + 0.0)", "(score)"),
    Mutant(
        "ties count as concordant",
        "_kernel/sums.h",
        "(rank.under.negatives + rank.up_to.negatives)",
        "(rank.up_to.negatives + rank.up_to.negatives)",
    ),
    Mutant("sums of pairs wrap around", "_kernel/__init__.py", "> 2.0**62", "> 2.0**99"),
    Mutant(
        "of equal scores of two states one counts",
        "_kernel/states.h",
        "b.scores[j] <= a.scores[i]",
        "b.scores[j] < a.scores[i]",
    ),
    Mutant(
        "scores beyond those of a sample are not clamped",
        "_kernel/sort.h",
        "std::clamp(key, floor, ceiling)",
        "key",
    ),
    Mutant(
        "one of many groups ends early",
        "_kernel/partition.h",
        "parts[part] + starts_here[low]",
        "parts[part] + starts_here[low] - (part == 1 && low == 3 && starts_here[3] > 0)",
        seed=1_110,
    ),
    Mutant("squares of weights are weights", "_kernel/cells.h", "of_a * of_a", "of_a"),
]


TESTED = [
    Mutant(
        "one rounded tie passes",
        "_input.py",
        "if n_tied > 0:",
        "if n_tied > 1:",
        "tests/test_input.py -k tie",
    ),
    Mutant(
        "the checksum leaves out the last array",
        "counts/file_format.py",
        "for column in table.columns:",
        "for column in table.columns[:-1]:",
        "tests/test_file_format.py tests/test_damaged_files.py",
    ),
    Mutant(
        "placement values count ties as ranked",
        NUMPY,
        "(under + up_to)[cell]",
        "(up_to + up_to)[cell]",
        "tests/test_clusters.py",
    ),
    Mutant(
        "covariances of two models are left out",
        "inference/model_comparison.py",
        "return (one - other for one, other",
        "return (one + other for one, other",
        "tests/test_comparison.py -k cluster",
    ),
    Mutant(
        "clusters are not corrected for their number",
        "inference/row_effects.py",
        "def cluster_corrections(weights: Floats, totals: Floats, squares: Floats) -> Floats:",
        "def cluster_corrections(weights: Floats, totals: Floats, squares: Floats) -> Floats:\n"
        "    return np.ones_like(totals)\n",
        "tests/test_clusters.py",
    ),
    Mutant(
        "the verdict is read from another interval than the one shown",
        "audit/answers.py",
        "else largest.ci_low > 0.0\n",
        "else contrast.largest(0.9).ci_low > 0.0\n",
        "tests/test_fairness_audit.py",
    ),
    Mutant(
        "secondary questions do not share their error rate",
        "audit/answers.py",
        "    alpha = (1.0 - LEVEL) / n_claims\n    contrast =",
        "    alpha = 1.0 - LEVEL\n    contrast =",
        "tests/test_fairness_audit.py",
    ),
    Mutant(
        "a rate counts the rows without the decision",
        "audit/rates_and_gaps.py",
        "ratio(decided.rows(events).weight,",
        "1.0 - ratio(decided.rows(events).weight,",
        "tests/test_rates.py tests/test_fairness_audit.py",
    ),
    Mutant(
        "a summary passes the door for scores",
        "counts/disclosure.py",
        'if Need.SCORES in need and rule.level == "summary":',
        'if Need.SCORES in need and rule.level == "none":',
        "tests/test_summary.py",
    ),
    Mutant(
        "counts sent again are added again",
        "counts/merging.py",
        "            if all(is_displaced):\n",
        "            if True:\n",
        "tests/test_score_counts.py tests/test_saved_counts.py",
    ),
    Mutant(
        "a group with one row less than asked for is compared",
        "pairs.py",
        "n_smaller_class >= least)",
        "n_smaller_class >= least - 1)",
        "tests/test_report.py tests/test_fairness_audit.py",
    ),
    Mutant(
        "a report reads predict_proba where scorers read decision_function",
        "report/group_auc.py",
        "        return probabilities, probabilities\n    if not np",
        "        return probabilities, probabilities\n    scores = probabilities\n    if not np",
        "tests/test_responses.py",
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiled", action="store_true", help="also bugs of the compiled kernel")
    parser.add_argument("--check", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.check is not None:
        return check_cases(*arguments.check)
    survivors = []
    print(f"{'bug':<65}{'file':<31}caught after")

    def tell(what: str, file: str, n_cases: int, reason: str) -> None:
        result = f"{n_cases:,} cases" if reason else f"none of {n_cases:,}"
        print(f"{what:<65}{file:<31}{result:>13}  {reason}", flush=True)
        if (reason == "") == (file != ""):
            survivors.append(what)

    with tempfile.TemporaryDirectory() as work:
        package = pathlib.Path(work, "repository", "skfedauc")
        shutil.copytree(REPOSITORY, package.parent, ignore=left_out)
        tell("(none)", "", *tried(package.parent, "numpy", CASES_WITHOUT))
        for mutant in RANDOM:
            with planted(mutant, package):
                tell(mutant.what, mutant.file, *tried(package.parent, "numpy"))
        for mutant in TESTED:
            with planted(mutant, package):
                reason = tested(package.parent, mutant.tests)
            print(f"{mutant.what:<65}{mutant.file:<31}{'':>13}  {reason}", flush=True)
            if not reason:
                survivors.append(mutant.what)
        if arguments.compiled:
            folder = built_with_all(package, work)
            tell("(none), compiled", "", *tried(folder, "compiled", CASES_WITHOUT // 4))
            for number, mutant in enumerate(COMPILED, 1):
                of_python = mutant if mutant.file.endswith(".py") else None
                with planted(of_python, folder / "skfedauc"):
                    found = tried(folder, "compiled", CASES, number, mutant.seed)
                tell(mutant.what, mutant.file, *found)
    if survivors:
        sys.exit(f"not as it must be: {', '.join(survivors)}")


def left_out(folder: str, names: list[str]) -> set[str]:
    """Return files that are not copied: the build does not need them, or must compile them."""
    kept = {"skfedauc", "pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"}
    if pathlib.Path(folder) == REPOSITORY:
        return {name for name in names if name not in kept}
    return {name for name in names if name == "__pycache__" or name.endswith((".so", ".pyd"))}


@contextlib.contextmanager
def planted(mutant: Mutant | None, package: pathlib.Path) -> Iterator[None]:
    if mutant is None:
        yield
        return
    path = package / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        sys.exit(f"{mutant.file} must have {mutant.old!r} once")
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        yield
    finally:
        path.write_text(text)


def built_with_all(package: pathlib.Path, work: str) -> pathlib.Path:
    """Return a folder with the built package, whose kernel has all bugs; BUG switches one on."""
    of_cpp = [(n, bug) for n, bug in enumerate(COMPILED, 1) if not bug.file.endswith(".py")]
    switch = pathlib.Path(work, "switch.h")
    switch.write_text(
        "#include <cstdlib>\n"
        'inline const int BUG = std::getenv("BUG") ? std::atoi(std::getenv("BUG")) : 0;\n'
    )
    target = pathlib.Path(work, "built")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
    options = ["--target", str(target), "-C", f"build-dir={work}/build", str(package.parent)]
    options += ["-C", f"cmake.define.CMAKE_CXX_FLAGS=-include {switch}"]
    with contextlib.ExitStack() as all_planted:
        for n, bug in of_cpp:
            either = bug._replace(new=f"(BUG == {n} ? ({bug.new}) : ({bug.old}))")
            all_planted.enter_context(planted(either, package))
        subprocess.run([*command, *options], check=True, cwd=work)
    return target


def tried(
    folder: pathlib.Path, kernel: str, most: int = CASES, bug: int = 0, seed: int = 0
) -> tuple[int, str]:
    """Return the number of cases tested in another process, and the failure of the last case."""
    paths = os.pathsep.join([str(folder), str(HERE), str(HERE.parent)])
    environment = {"PYTHONPATH": paths, "SKFEDAUC_KERNEL": kernel, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["BUG"] = str(bug)
    command = [sys.executable, __file__, "--check", str(most), str(seed)]
    run = subprocess.run(
        command,
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    n_cases = run.stdout.count("\n")
    if run.returncode == 0:
        return n_cases, ""
    if run.returncode == -signal.SIGPROF:
        return n_cases, "does not end"
    if run.returncode < 0 or not run.stderr:
        return n_cases, f"ended by signal {-run.returncode}"
    if "failed: " not in run.stderr:  # the package could not be imported
        sys.exit(run.stderr)
    return n_cases, run.stderr.rpartition("failed: ")[2].strip()[:60]


def tested(repository: pathlib.Path, tests: str) -> str:
    """Return the first failure of the tests with the copy of the package; empty if they pass."""
    source = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "
        "'ScikitBuildRedirectingFinder']; import pytest, skfedauc; "
        "skfedauc.__file__.startswith(sys.argv[1]) or sys.exit('not the copy'); "
        "sys.exit(pytest.main(sys.argv[2:]))"
    )
    options = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "--rootdir", str(REPOSITORY)]
    run = subprocess.run(
        [sys.executable, "-P", "-c", source, str(repository), *options, *tests.split()],
        env={**os.environ, "PYTHONPATH": str(repository), "SKFEDAUC_KERNEL": "numpy"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode > 1 or not run.stdout:  # nothing was tested
        sys.exit(run.stdout + run.stderr)
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    return failed[0].removeprefix("FAILED ")[:60] if failed else ""


def check_cases(most: int, first: int) -> None:
    """Test this number of random cases; print a line for each."""
    # Remove editable installations, which Python would import instead of the copy.
    sys.meta_path[:] = [
        f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"
    ]
    import numpy as np
    import test_fuzz
    from cases import draw

    import skfedauc

    if not skfedauc.__file__.startswith(os.getcwd()):
        sys.exit(f"{skfedauc.__file__} is not in {os.getcwd()}")
    for seed in range(first, first + most):
        print("case", flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS_OF_CASE)  # the signal ends the process
        try:
            test_fuzz.check(draw(seed), np.random.default_rng(seed))
        except BaseException as error:
            sys.exit(f"failed: {type(error).__name__} {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
