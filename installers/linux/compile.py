"""Compiles the libraries for the Python that is here: Pinfill starts quickly though it cannot write to their folder."""

import compileall
import sys
from pathlib import Path

here = Path(__file__).resolve().parent.parent
for folder in sys.path:
    if here in Path(folder).resolve().parents:
        compileall.compile_dir(folder, quiet=2, workers=0)
