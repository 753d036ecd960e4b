"""The engine as the screens use it: imported and warmed off the screen's thread, one evaluation at a time, errors as text."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.answers import Answers
    from rules.comparison.rows import Change
    from rules.conflicts import Conflicts
    from rules.design import Design
    from rules.explanation.ground import Ground
    from rules.remedies import Mended
    from rules.whynot.whynot import WhyNot
    from wizard.certainty import Certainty

    Advise = Callable[[Answers, Catalog], Design]
    Watch = Callable[[int], bool]


@dataclass(frozen=True)
class Advice:
    """What came of one evaluation: a design, or what went wrong; `generation` tells which answers it belongs to.

    `considered` is what was weighed for it, for tables of candidates and for pictures.
    Where the answers are those of a saved design, it was `replayed`: `changes` are its conclusions that differ, `causes` why.
    """

    generation: int
    answers: Answers
    design: Design | None = None
    error: str = ""
    replayed: bool = False
    changes: tuple[Change, ...] = ()
    causes: tuple[str, ...] = ()
    considered: Considered | None = None


class Adviser:
    """Turns answers into advice. Every heavy import happens at the first call, in the thread that makes it."""

    def __init__(self, catalog_folders: Sequence[str] = (), advise: Advise | None = None) -> None:
        self._folders, self._advise = tuple(catalog_folders), advise
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._ground: Ground | None = None
        self.catalog_error = ""
        self.can_explain = advise is None

    @property
    def catalog(self) -> Catalog | None:
        """Return the catalog where it is loaded already, else None; never loads it."""
        return self._catalog

    def warm(self) -> None:
        """Load what the first evaluation needs. An unreadable catalog is kept as an error and shown with every advice."""
        with self._lock:
            self._load()

    def advise(self, generation: int, answers: Answers, opened: Mapping[str, Any] | None = None) -> Advice:
        """Return the advice for `answers`, compared with the design `opened`; whatever the engine raises becomes the advice's error."""
        with self._lock:
            catalog = self._load()
            if catalog is None or self._advise is None:
                return Advice(generation, answers, error=self.catalog_error)
            try:
                design, considered = self._weigh(answers, catalog)
                if opened is None:
                    return Advice(generation, answers, design, considered=considered)
                from wizard.replay import compared

                found = compared(opened, design, catalog, "the design")
                return Advice(generation, answers, design, "", True, found.changes, found.causes, considered)
            except Exception as error:  # the wizard must outlive any rule; the person sees what failed
                return Advice(generation, answers, error=_told(error))

    def _weigh(self, answers: Answers, catalog: Catalog) -> tuple[Design, Considered | None]:
        """Return the design, and what was weighed for it where the real engine made it."""
        if self._advise is not None and not self.can_explain:
            return self._advise(answers, catalog), None
        from rules.advisor import consider
        from rules.assembly import assemble

        found = consider(answers, catalog)
        return assemble(found.context, found.judged, found.ranking, found.rejected), found

    def explain(self, answers: Answers, what: str, width: int) -> list[str]:
        """Return how `what` was concluded from `answers`, in lines of at most `width`; empty where there is nothing more to say."""
        from rules.advisor import consider
        from rules.explain import NothingToExplainError, explain, ground_of
        from rules.explanation.text import lines_of

        with self._lock:
            catalog = self._load()
            if catalog is None:
                return []
            try:
                if self._ground is None or self._ground.context.answers != answers:
                    self._ground = ground_of(consider(answers, catalog))
                return lines_of(explain(self._ground, what), width)
            except NothingToExplainError:
                return []
            except Exception as error:  # an explanation that fails must not end the wizard
                return [f"this cannot be explained: {_told(error)}"]

    def find_conflicts(self, answers: Answers, watch: Watch | None = None) -> Conflicts | None:
        """Return the minimal sets of answers in conflict, with the smallest changes; None where there are none to find, or `watch` stops.

        `watch` is called with the number of designs begun whenever one begins; where it returns False the search ends.
        """
        from rules.answers import AnswerError
        from rules.watching import StoppedError, watched

        with self._lock:
            catalog = self._load()
            if catalog is None or not self.can_explain:
                return None
            from rules.conflicts import find_conflicts

            try:
                with watched(watch or _never_ending):
                    return find_conflicts(answers, catalog)
            except (AnswerError, StoppedError):
                return None

    def mend(self, answers: Answers, watch: Watch | None = None, *, warnings: bool = False) -> Mended | str | None:
        """Return the design before and after all remedies; a message where that is impossible, None where `watch` stops it."""
        from rules.answers import AnswerError
        from rules.watching import StoppedError, watched

        with self._lock:
            catalog = self._load()
            if catalog is None or not self.can_explain:
                return self.catalog_error or None
            from rules.remedies import mend

            try:
                with watched(watch or _never_ending):
                    return mend(answers, catalog, warnings=warnings)
            except AnswerError as error:
                return str(error)
            except StoppedError:
                return None

    def certainty(self, design: Design, considered: Considered | None, watch: Watch | None = None) -> Certainty | None:
        """Return what each open answer of a design costs in certainty, and the prices and rates that could change it.

        None where `watch` stops it. Without `considered`, what was weighed for the design, it is of the answers alone.
        """
        from rules.answers import AnswerError
        from rules.watching import StoppedError, design_begins, watched
        from wizard.certainty import Certainty, effects

        with self._lock:
            catalog = self._load()

            def made(answers: Answers) -> Design | None:
                if catalog is None or self._advise is None:
                    return None
                if not self.can_explain:
                    design_begins()
                try:
                    return self._advise(answers, catalog)
                except AnswerError:
                    return None

            try:
                with watched(watch or _never_ending):
                    found = Certainty(tuple(effects(design, made, self.published_ends)))
                    if considered is None or considered.ranking.chosen is None:
                        return found
                    from rules.doubts import totals_of
                    from rules.uncertainty import beyond_answers

                    return Certainty(found.effects, beyond_answers(considered), totals_of(considered.ranking.chosen))
            except StoppedError:
                return None

    def published_ends(self, key: str) -> tuple[str, ...]:
        """Return the published ends of a number of which half and twice mean nothing; empty for any other, or before a catalog is read."""
        from rules.uncertainty import published_ends

        return published_ends(key, self._catalog) if self._catalog is not None else ()

    def why_not(self, considered: Considered, what: str, watch: Watch | None = None) -> WhyNot | str | None:
        """Return why a design has not `what`; a message where nothing is called that, None where `watch` stops it."""
        from rules.answers import AnswerError
        from rules.watching import StoppedError, watched
        from rules.whynot.whynot import why_not
        from rules.whynot.wishes import NoSuchWishError

        with self._lock:
            try:
                with watched(watch or _never_ending):
                    return why_not(considered, what)
            except (NoSuchWishError, AnswerError) as error:
                return str(error)
            except StoppedError:
                return None

    def _load(self) -> Catalog | None:
        if self._catalog is not None and self._advise is not None:
            return self._catalog
        try:
            from catalogs import load_catalog
            from catalogs.quantities import registry
            from wizard.places import own_catalog_folders

            registry()
            if self._catalog is None:
                catalog = load_catalog([*own_catalog_folders(), *self._folders])
                for shelf in (catalog.models, catalog.gpus, catalog.nodes):
                    len(shelf)
                self._catalog = catalog
            if self._advise is None:
                from rules.advisor import advise

                self._advise = advise
            self.catalog_error = ""
        except Exception as error:  # a broken catalog file or extension is shown as a row, like a failing rule
            self.catalog_error = _told(error)
        return self._catalog


def _never_ending(begun: int) -> bool:
    del begun
    return True


def _told(error: Exception) -> str:
    from catalogs import CatalogError
    from rules.answers import AnswerError

    text = str(error).strip() or type(error).__name__
    return text if isinstance(error, (AnswerError, CatalogError)) else f"{type(error).__name__}: {text}"
