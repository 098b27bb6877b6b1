#!/bin/bash
# Runs the example projects and compares every reply with the expected one.
#
#   examples/demo.sh                       all of examples/, then the generated sales lists
#   examples/demo.sh --quick tests/golden  the projects below another folder, one line a request
#
# Exit code: 0 when every reply was the expected one, else 1.
# MILLSTREAM names the binary (build/release/millstream). Needs bash, curl and python3.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec /usr/bin/python3 "$root/examples/demo.py" --binary "${MILLSTREAM:-$root/build/release/millstream}" "$@"
