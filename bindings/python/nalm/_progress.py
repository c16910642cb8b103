"""A progress bar in terminals and notebooks, and nothing elsewhere. It begins after half a second."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """Call it with the share that is done and a few words; close it at the end."""

    def __init__(self) -> None:
        self._begin = time.monotonic() + 0.5
        self._notebook = _in_notebook()
        self._shown: Any = None
        self._width = 0

    def __call__(self, share: float, words: str) -> None:
        if time.monotonic() < self._begin:
            return
        share = min(max(share, 0.0), 1.0)
        if self._notebook:
            from html import escape

            from IPython.display import HTML, display

            page = HTML(f'<progress value="{share:.3f}" max="1"></progress> {escape(words)}')
            if self._shown is None:
                self._shown = display(page, display_id=True)
            else:
                self._shown.update(page)
            return
        filled = round(20 * share)
        line = f"[{'#' * filled}{'.' * (20 - filled)}] {100 * share:3.0f} %  {words}"[:100]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        if self._notebook and self._shown is not None:
            from IPython.display import HTML

            self._shown.update(HTML(""))
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def bar(wanted: bool | None) -> Bar | None:
    """A bar if it is wanted, or where somebody sees it if nothing is said."""
    if wanted is None:
        wanted = _in_notebook() or bool(getattr(sys.stderr, "isatty", lambda: False)())
    return Bar() if wanted else None


def calls(shown: Bar | None, words: Callable[..., str]) -> Callable[..., None] | None:
    """What the library calls while it works: share first."""
    if shown is None:
        return None
    return lambda share, *rest: shown(share, words(*rest))
