"""Removal of generated pages whose object or example no longer exists.

autosummary and sphinx-gallery write pages into the folder of the sources and keep the pages of
earlier builds. After an object has a new name, the page of the old name would make the build fail.
"""

import os
from pathlib import Path

# Text and time of pages of the API, by path
earlier = {}


def remove_api(app):
    """Remove the pages of the API, which autosummary then writes."""
    for path in Path(app.srcdir, "api", "generated").glob("*.rst"):
        time = path.stat().st_mtime_ns
        earlier[path] = path.read_text(encoding="utf-8"), time
        path.unlink()


def keep_times(app):
    """Give pages that are written again unchanged their old times, so they are not read again."""
    for path, (text, time) in earlier.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            os.utime(path, ns=(time, time))


def remove_examples(app):
    """Remove what sphinx-gallery wrote for examples that no longer exist."""
    for path in Path(app.srcdir, "auto_examples").glob("plot_*"):
        example = path.name.split(".")[0]
        if not Path(app.srcdir, "examples", f"{example}.py").exists():
            path.unlink()


def setup(app):
    """Connect the functions above to the build."""
    # autosummary and sphinx-gallery write their pages in the same event, with priority 500.
    app.connect("builder-inited", remove_api, priority=400)
    app.connect("builder-inited", remove_examples, priority=400)
    app.connect("builder-inited", keep_times, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
