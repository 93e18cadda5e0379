"""Whether every test of a build folder has a limit of its own, so that a stuck one is named and not the whole run.

    timeouts_check.py --ctest ctest --build build/release

Exit status 1 with a line for each test without one. Standard library only.
"""

import argparse
import json
import subprocess
import sys


def without_timeout(tests):
    """The names of those tests, of the list that `ctest --show-only=json-v1` gives."""
    def limited(test):
        return any(p["name"] == "TIMEOUT" and p["value"] > 0 for p in test.get("properties", []))
    return [test["name"] for test in tests if not limited(test)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ctest", default="ctest")
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    told = subprocess.run([args.ctest, "--test-dir", args.build, "--show-only=json-v1"], check=True, capture_output=True,
                          text=True).stdout
    tests = json.loads(told)["tests"]
    missing = without_timeout(tests)
    for name in missing:
        print(f"{name}: error: it has no TIMEOUT; add it by plumbline_test or plumbline_ctest of targets.cmake",
              file=sys.stderr)
    print(f"{len(tests)} tests, {len(missing)} without a limit")
    return 1 if missing or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
