"""What the app is asked for beside going from screen to screen: questions about the design, and what goes out of the wizard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.tui.engine_app import EngineApp

if TYPE_CHECKING:
    from wizard.tui.asking import Asker
    from wizard.tui.giving import Giver


class AskedApp(EngineApp):
    """Actions that `asker` answers and `giver` carries out."""

    asker: Asker
    giver: Giver

    def action_what_if(self) -> None:
        """Open a what-if, or compare, keep or drop the open one."""
        self.asker.toggle_what_if()

    def action_compare_file(self) -> None:
        """Compare with a saved design."""
        self.asker.compare_file()

    def action_jump(self) -> None:
        """Show letters to jump by."""
        self.asker.jump()

    def action_ask(self) -> None:
        """Offer the four questions about what is pointed at."""
        self.asker.ask_about()

    def action_find_effects(self) -> None:
        """Look for what the open answers cost in certainty."""
        self.asker.find_effects()

    def action_find_conflicts(self) -> None:
        """Look for the answers that cannot hold together."""
        self.asker.find_conflicts()

    def action_write_report(self) -> None:
        """Write the report to a file."""
        self.giver.write_report()

    def action_copy_report(self) -> None:
        """Copy the report."""
        self.giver.copy_report()
