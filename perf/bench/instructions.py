#!/usr/bin/env python3
"""Instructions per operation, counted by callgrind, side by side for several backends.

    perf/bench/instructions.py [--build build/release] [--only typed_call] [--json FILE] floor reference torch

Each workload runs N and then 2N times under callgrind; the difference over N is the count of one operation, the loop
included (three to five instructions), whatever else the machine does. Ratios are to the first backend given.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def count(tool: pathlib.Path, backend: str, only: str) -> dict[str, float | str]:
    """Workload -> instructions of one operation, or the reason why the backend cannot run it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet",
            f"--callgrind-out-file={folder}/out", str(tool), "--backend", backend,
        ] + (["--only", only] if only else [])
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"instructions: {' '.join(command)} failed:\n{run.stderr}")
        totals = {}
        for dump in pathlib.Path(folder).glob("out.*"):
            text = dump.read_text(encoding="utf-8")
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name and total:
                totals[name.group(1)] = int(total.group(1))
        result = {}
        for line in run.stdout.splitlines():
            kind, workload, value = line.split("\t")
            if kind == "cannot":
                result[workload] = value
            else:
                result[workload] = (totals[f"{workload} 2"] - totals[f"{workload} 1"]) / int(value)
        return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--json", type=pathlib.Path, help="write the counts there too")
    parser.add_argument("backends", nargs="+")
    arguments = parser.parse_args()
    tool = arguments.build / "bin" / "plumbline-instructions"
    if not tool.exists():
        print(f"instructions: {tool} is not built; run ./dev build", file=sys.stderr)
        return 2
    counts = {backend: count(tool, backend, arguments.only) for backend in arguments.backends}
    if not any(counts.values()):
        print(f"instructions: no workload's name contains '{arguments.only}'", file=sys.stderr)
        return 2
    first = arguments.backends[0]
    width = max(len(workload) for of in counts.values() for workload in of)
    print(" " * width + "".join(f"{backend:>22}" for backend in counts))
    for workload in next(iter(counts.values())):
        line = f"{workload:<{width}}"
        base = counts[first].get(workload)
        for of in counts.values():
            value = of.get(workload)
            if not isinstance(value, float):
                line += f"{'-':>22}"
            elif isinstance(base, float) and base:
                line += f"{value:>13.1f} {value / base:>6.2f}x "
            else:
                line += f"{value:>13.1f}         "
        print(line)
    if arguments.json:
        arguments.json.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
