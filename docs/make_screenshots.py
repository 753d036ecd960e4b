"""Make the pictures of the documentation: the wizard on an example design, without a terminal.

    python docs/make_screenshots.py

writes docs/*.svg, and docs/*.png where rsvg-convert is installed (Debian: librsvg2-bin fonts-firacode fonts-dejavu-core).
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
EXAMPLE = ROOT / "designs" / "eight-nodes-8b.toml"
SIZE = (120, 36)
PICTURES = {
    "screen": ("pagedown", "pagedown", "tab"),
    "design": ("f4",),
    "compare": ("f5",),
    "look": ("f6", "4"),
}
"""The pictures, and the keys that lead to each from the first question."""
PNG_WIDTH = 1100
CELL = 12.2
"""Width of a character in Textual's pictures."""
_TEXT = re.compile(r'(<text class="[^"]*" x=")([\d.]+)(" y="[\d.]+" textLength=")([\d.]+)("[^>]*>)((?:&#160;)+)([^<]*)')


async def picture(name: str, keys: tuple[str, ...]) -> str:
    """Return the picture of the screen after `keys` as SVG."""
    from wizard.tui.app import WizardApp

    app = WizardApp(str(EXAMPLE))
    async with app.run_test(size=SIZE) as pilot:
        await _rest(app, pilot)
        for key in keys:
            await pilot.press(key)
            await _rest(app, pilot)
        return app.export_screenshot(title=f"cluster-wizard: {name}")


async def _rest(app: object, pilot: object) -> None:
    for _ in range(100):
        await pilot.pause(0.05)  # type: ignore[attr-defined]
        await app.workers.wait_for_complete()  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        if app.work.current:  # type: ignore[attr-defined]
            return


def without_leading_blanks(svg: str) -> str:
    """Return the picture with blanks at the start of a text replaced by its place: some programs drop such blanks."""

    def moved(match: re.Match[str]) -> str:
        before, x, between, length, after, blanks, text = match.groups()
        shift = len(blanks) // len("&#160;") * CELL
        return f"{before}{float(x) + shift:.1f}{between}{float(length) - shift:.1f}{after}{text}" if text else ""

    return re.sub(r"<text[^>]*></text>|</text>(?=</text>)", "", _TEXT.sub(moved, svg))


def main() -> int:
    """Make all pictures."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_STATE_HOME"] = home
        for name, keys in PICTURES.items():
            path = DOCS / f"{name}.svg"
            path.write_text(without_leading_blanks(asyncio.run(picture(name, keys))), encoding="utf-8")
            if shutil.which("rsvg-convert"):
                subprocess.run(["rsvg-convert", "-w", str(PNG_WIDTH), str(path), "-o", str(path.with_suffix(".png"))], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
