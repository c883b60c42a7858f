"""Rules of disclosure for tests, written as a site would."""

from skfedauc import Bins, ScoreCounts
from skfedauc.counts import Disclosure
from skfedauc.counts.state import State, checked


def rule(disclosure, **small):
    """Return the rule of a level or of bins, with the treatment of small numbers."""
    if isinstance(disclosure, Bins):
        return Disclosure("bins", disclosure, **small)
    return Disclosure(disclosure, **small)


def without_small(counts, **small):
    """Return binned counts at their own bins, without small numbers."""
    return counts.reduced(rule(counts.disclosure.bins, **small))


def restored(counts, *, sealed=False, **changes):
    """Return counts with a changed state: `sealed` from a pickle with the first checksum."""
    restore, (checksum, *state) = counts.__reduce__()
    changed = State(*state)._replace(**changes)
    return restore(checksum, *changed) if sealed else ScoreCounts._of(checked(changed, "the file"))


def facts_of(counts):
    """Return all that counts hold besides the counts, except what files do not keep."""
    return counts._state._replace(content=None, labels=None, ranges=None, orders=(), n_jobs=None)
