"""The program `skfedauc`, and ``python -m skfedauc``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Run the command line; Ctrl-C ends it without a traceback and with exit code 130."""
    # Keep a handler that ignores interrupts, as in background jobs of shell scripts.
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        # An interrupt during imports ends the process; by default, Python prints a traceback.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from skfedauc.cli.main import main as command_line

    try:
        # From here on, an interrupt raises an exception, so that the program removes partial files.
        signal.signal(signal.SIGINT, handler)
        return command_line()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
