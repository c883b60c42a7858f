"""Every Python block of the README runs, in order, as a reader would type it."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def python_blocks():
    """Code of each block, behind as many empty lines as stand before it in the file."""
    text = README.read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        yield "\n" * text.count("\n", 0, block.start(1)) + block.group(1)


def test_every_python_block_runs(monkeypatch, tmp_path, capsys):
    blocks = list(python_blocks())
    assert blocks
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, str(README), "exec"), namespace)
