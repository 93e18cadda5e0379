#!/usr/bin/env python3
"""Checks what an object file asks of others: nothing that a sanitizer instruments or watches.

    freestanding_check.py --nm nm --object scheduler.cc.o

Prints each undefined symbol that is not in ALLOWED, and each weak symbol that it defines, of which the linker might take
another object's copy; exit status 1 if there is one. Standard library only.
"""

import argparse
import subprocess
import sys

ALLOWED = {"abort", "pthread_create", "pthread_detach", "_GLOBAL_OFFSET_TABLE_", "__tls_get_addr",
           "__tsan_acquire", "__tsan_release",
           "__popcountdi2"}  # of the compiler's own library


def faults(listing):
    for line in listing.splitlines():
        *_, kind, name = line.split()
        if kind in "Uw" and name not in ALLOWED:
            yield f"asks for {name}"
        elif kind in "WVu":
            yield f"defines {name}, as others may"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--object", required=True)
    arguments = parser.parse_args()
    listing = subprocess.run([arguments.nm, arguments.object], check=True, capture_output=True, text=True).stdout
    found = sorted(set(faults(listing)))
    for fault in found:
        print(f"{arguments.object}: error: {fault}; scheduler.cc has to stay free of what sanitizers see")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
