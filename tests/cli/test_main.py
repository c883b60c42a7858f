"""Exit codes, warnings, and the program as a process."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
from cli_cases import COLUMNS
from processes import run_python

from skfedauc import __main__ as program
from skfedauc.cli import audit as command
from skfedauc.cli.main import main


@pytest.mark.parametrize("where", ["read_columns", "_of_rows"])
def test_not_enough_memory(written, capsys, monkeypatch, where):
    def failing(*_):
        raise MemoryError("Unable to allocate 5 GiB")

    monkeypatch.setattr(command, where, failing)
    assert main(["audit", written, *COLUMNS]) == 4
    message = capsys.readouterr().err
    assert message.startswith(
        "skfedauc: error: there is not enough memory; count the rows in parts"
    )
    assert message.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(written, capsys, monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["audit", written, *COLUMNS]) == 3
    message = "skfedauc: error: standard output: cannot be written: No space left on device\n"
    assert capsys.readouterr().err == message


def test_a_reader_that_stops_is_no_error(written, capsys, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["audit", written, *COLUMNS]) == 141
    assert capsys.readouterr().err == ""


def run(*arguments, **options):
    """Run the program in a process of its own; warnings are errors."""
    done = run_python("-W", "error", *arguments, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs head")
def test_a_pipe_is_read_and_the_document_is_written_if_head_stops(tmp_path):
    document = tmp_path / "r.json"
    program = shlex.join([sys.executable, "-W", "error", "-m", "skfedauc"])
    command_line = shlex.join(["audit", "-", *COLUMNS, "--json", str(document)])
    # The reader stops before the report is printed.
    done = subprocess.run(
        ["sh", "-c", f"{{ {program} {command_line}; echo $? >&2; }} | :"],
        input="y,s,g\n0,0.1,a\n1,0.4,a\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "141\n")
    assert json.loads(document.read_text())["n_positives"] == 1


def loaded_by(*commands):
    """Return the exit codes of commands in one process, and the modules that it has loaded."""
    code = f"""
import sys
from skfedauc.cli.main import main
def code_of(command):
    try:
        return main(command)
    except SystemExit as ended:
        return ended.code
print("ended:", *[code_of(command) for command in {commands}], "loaded:", *sys.modules)
"""
    _, printed, _ = run("-c", code)
    codes, _, loaded = printed.rpartition("ended: ")[2].partition("loaded: ")
    return codes.split(), loaded.split()


def test_help_and_usage_errors_import_nothing_heavy():
    codes, loaded = loaded_by(["--help"], ["audit", "p.csv", "--missing", "skip"])
    assert codes == ["0", "2"]
    assert {"numpy", "pandas", "sklearn", "scipy"}.isdisjoint(loaded)


def test_counts_are_made_merged_and_shown_without_scikit_learn(written, tmp_path):
    counts, merged = str(tmp_path / "p.skfa"), str(tmp_path / "all.skfa")
    count, merge = ["count", written, *COLUMNS, "-o", counts], ["merge", counts, "-o", merged]
    codes, loaded = loaded_by(count, merge, ["show", merged])
    assert codes == ["0", "0", "0"]
    assert {"sklearn", "scipy", "fairlearn", "matplotlib", "joblib"}.isdisjoint(loaded)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_while_modules_are_imported(written, tmp_path):
    """A false argparse, the first module that the command line imports, sends the interrupt."""
    (tmp_path / "argparse.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    )
    paths = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"}
    # A background job of a shell ignores interrupts, and so do its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for start in (["-m", "skfedauc"], ["-c", "from skfedauc.__main__ import main; main()"]):
            ended = run(*start, "audit", written, *COLUMNS, env=paths)
            assert ended == (130, "", "")
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_of_a_command(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "read_columns", interrupted)
    monkeypatch.setattr(sys, "argv", ["skfedauc", "audit", "p.csv", *COLUMNS])
    before = signal.getsignal(signal.SIGINT)
    assert program.main() == 130
    assert capsys.readouterr() == ("", "")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupts_of_a_background_job_stay_ignored():
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from skfedauc.__main__ import main
from skfedauc.cli import main as module
module.parse = lambda argv: os.kill(os.getpid(), signal.SIGINT)
module._output = lambda arguments: [["done"]]
main()
"""
    assert run("-c", code) == (0, "done\n", "")
