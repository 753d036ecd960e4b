"""What goes out of the wizard: the design to its file, the report to a file or to the clipboard. Made off the screen's thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.files import FileError, write_atomically
from wizard.tui.actions import ACTIONS
from wizard.tui.screens.dialogs import FileDialog

if TYPE_CHECKING:
    from rules.design import Design
    from wizard.tui.app import WizardApp
    from wizard.work import Work

SUFFIXES = (".md", ".markdown", ".html", ".htm")


class Giver:
    """Writes and copies what the design says."""

    def __init__(self, app: WizardApp) -> None:
        self._app = app

    def save(self) -> None:
        """Save to the work's file; ask for a name the first time."""
        path = self._app.work.save_path
        if self._aside():
            return
        if path is None:
            self.save_as()
        else:
            self.save_to(path)

    def save_as(self) -> None:
        """Ask for a file name and save."""
        if self._aside():
            return
        path, is_design = self._app.work.path, self._app.work.is_design
        start = "my-cluster.toml" if path is None else str(path if is_design else path.with_name(f"{path.stem}-design.toml"))

        def chosen(path: Path | None) -> None:
            if path is not None:
                self.save_to(path)

        self._app.push_screen(FileDialog("Save the design as", start, must_exist=False), chosen)

    def _aside(self) -> bool:
        """Return whether a what-if is open, and say what to do: its answers never take the place of the base by themselves."""
        if self._app.work.session.aside:
            key = next(each.key for each in ACTIONS if each.id == "what_if")
            self._app.notify(
                f"A what-if is open: {key} compares it with the base; keep or drop it, then save.", severity="warning", timeout=8
            )
        return bool(self._app.work.session.aside)

    def save_to(self, path: Path) -> None:
        """Write the design of the answers as they are now, off the screen's thread."""
        self._app.run_worker(partial(self._save, path), thread=True, group="save", exit_on_error=False)

    def _save(self, path: Path) -> None:
        """Write; where the engine is behind, the design is worked out anew first."""
        app, work = self._app, self._app.work
        design, error = work.design if work.current else None, ""
        if design is None:
            advice = app.adviser.advise(work.generation, work.answers)
            design, error = advice.design, advice.error
        if design is None:
            app.notify(f"Not saved: there is no design to save ({error}). Your answers are kept.", severity="error", timeout=12)
            return
        try:
            meta = work.write(path.absolute(), design, app.adviser.catalog)
        except FileError as fault:
            app.notify(f"Not saved: {fault}", severity="error", timeout=12)
            return
        app.call_from_thread(self._saved, work, path.absolute(), design, meta)

    def _saved(self, work: Work, path: Path, design: Design, meta: dict[str, Any]) -> None:
        work.wrote(path, design, meta)
        number = len(design.conflicts)
        conflicts = f", with {counted(number, 'conflict')}" if number else ""
        self._app.notify(f"Saved {path.name}{conflicts}.", timeout=4)
        self._app.keep()  # answers given while it was written stand in no file yet
        self._app.show_work()

    def write_report(self) -> None:
        """Ask for a file and write the report: a page where its name ends in .html, else Markdown."""
        app, work = self._app, self._app.work
        design = work.design
        if design is None:
            app.notify("There is no design to report yet.", severity="warning")
            return

        def chosen(path: Path | None) -> None:
            if path is not None:
                app.run_worker(partial(self._write, path, work, design), thread=True, group="report", exit_on_error=False)

        start = f"{work.path.stem if work.path else 'my-cluster'}.html"
        app.push_screen(FileDialog("Write the report to (.html or .md)", start, must_exist=False), chosen)

    def copy_report(self) -> None:
        """Put the report on the clipboard, as Markdown."""
        app, work = self._app, self._app.work
        if work.design is None:
            app.notify("There is no design to report yet.", severity="warning")
            return
        app.run_worker(partial(self._copy, work, work.design), thread=True, group="report", exit_on_error=False)

    def _write(self, path: Path, work: Work, design: Design) -> None:
        suffix = path.suffix.lower()
        target = path if suffix in SUFFIXES else Path(f"{path}.md")
        try:
            write_atomically(target.absolute(), self._text(work, design, target.suffix.lower()))
        except FileError as error:
            self._app.notify(f"Not written: {error}", severity="error", timeout=12)
        except Exception as error:  # the wizard must outlive a report that cannot be made
            self._app.notify(f"No report: {type(error).__name__}: {error}", severity="error", timeout=12)
        else:
            self._app.notify(f"Wrote {target.name}.", timeout=4)

    def _copy(self, work: Work, design: Design) -> None:
        try:
            text = self._text(work, design, ".md")
        except Exception as error:  # the wizard must outlive a report that cannot be made
            self._app.notify(f"No report: {type(error).__name__}: {error}", severity="error", timeout=12)
            return
        self._app.call_from_thread(self._app.copy_to_clipboard, text)
        self._app.notify("Copied the report, where your terminal lets programs write to its clipboard.", timeout=4)

    def _text(self, work: Work, design: Design, suffix: str) -> str:
        from wizard.commands.report import report_text
        from wizard.report.contents import contents
        from wizard.versions import meta_of

        catalog = self._app.adviser.catalog
        name = work.name if work.path is not None or work.meta.get("name") else "Design of a GPU cluster"
        meta = meta_of(name, catalog, work.meta) if catalog is not None else dict(work.meta)
        return report_text(contents(design, work.considered, meta), suffix)
