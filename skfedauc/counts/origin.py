"""Metadata of counted rows, in addition to their counts."""

from __future__ import annotations

from typing import NamedTuple

from skfedauc import _input, _words


class Origin(NamedTuple):
    """Metadata of the rows of a `ScoreCounts`, in addition to their counts.

    Attributes
    ----------
    n_missing : int
        Number of rows left out because they have no group label.
    group_names : tuple of str
        Names of the columns that the groups come from. Empty if the names are unknown, or differ
        between merged score counts.
    classes : Classes
        Class labels of the rows. Empty if they are unknown, as for score counts made from counts.
    """

    n_missing: int = 0
    group_names: tuple[str, ...] = ()
    classes: _input.Classes = _input.Classes()

    @classmethod
    def merged(cls, origins: list[Origin]) -> Origin:
        """Merge the metadata of several score counts.

        Raises
        ------
        ValueError
            If their class labels are incompatible.
        """
        # Different names merge to no names, so that the result does not depend on the order of
        # merging.
        names = {origin.group_names for origin in origins}
        return cls(
            sum(origin.n_missing for origin in origins),
            names.pop() if len(names) == 1 else (),
            _input.Classes.merged(origin.classes for origin in origins),
        )


def left_out(n_missing: int) -> str:
    """Phrase with the number of rows left out because they have no group label."""
    if not n_missing:
        return ""
    return f", {_words.counted(n_missing, 'row')} without a group label left out"
