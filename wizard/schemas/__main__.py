"""`python -m wizard.schemas`: write the generated schemas again."""

from __future__ import annotations

import sys

from wizard.schemas import ENDING, FOLDER
from wizard.schemas.generated import generated_schemas, text_of

for name, made in generated_schemas().items():
    (FOLDER / f"{name}{ENDING}").write_text(text_of(made), encoding="utf-8")
    sys.stdout.write(f"{name}{ENDING}\n")
