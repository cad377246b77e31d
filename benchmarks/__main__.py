"""Every measurement, one after the other, on a corpus of yours or on the demo's reviews.

python -m benchmarks [CORPUS]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from headstart.recipes.demo_data import write_demo_data


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus = sys.argv[1] if len(sys.argv) > 1 else str(write_demo_data(Path(folder)).corpus)
        for words in (["benchmarks.encoding", corpus], ["benchmarks.guard"]):
            print(f"\n== python -m {' '.join(words)}", flush=True)
            subprocess.run([sys.executable, "-m", *words], check=True)


if __name__ == "__main__":
    main()
