"""Compiles the libraries for the Python that is here, so that Pinfill starts quickly from a folder it cannot write to."""

import compileall
import sys
from pathlib import Path

here = Path(__file__).resolve().parent.parent
for folder in sys.path:
    if here in Path(folder).resolve().parents:
        compileall.compile_dir(folder, quiet=2, workers=0)
