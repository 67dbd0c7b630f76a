"""python -m pinfill_app: the same as `pinfill app`."""

from __future__ import annotations

import sys

from pinfill_service.cli import main

if __name__ == "__main__":
    sys.argv[0:1] = ["pinfill", "app"]
    main()
