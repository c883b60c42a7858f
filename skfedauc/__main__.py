"""The program `skfedauc`, and ``python -m skfedauc``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Run the command line; Ctrl-C ends it without a traceback and with exit code 130."""
    # Shells start background jobs with interrupts ignored.
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        # During imports, where Python would print a traceback, an interrupt ends the process.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from skfedauc.cli.main import main as command_line

    try:
        # From here on, an interrupt is an exception, so that files are cleaned up.
        signal.signal(signal.SIGINT, handler)
        return command_line()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
