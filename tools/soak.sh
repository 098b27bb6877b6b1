#!/bin/bash
# The long tests: what must not grow, leak or lose anything over thousands of rounds. The last line
# is "N passed, N failed". SOAK_COUNT changes the number of redeployments and kills (1,000).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
PYTHON=${PYTHON:-/usr/bin/python3}
JOBS=${JOBS:-$(nproc)}
[ -f build/release/build.ninja ] || cmake --preset release >/dev/null
ninja -C build/release -j"$JOBS" millstream queue_process server_client || exit 1
"$PYTHON" -B tests/crash/server.py --count "${SOAK_COUNT:-1000}" || exit 1
"$PYTHON" -B tests/crash/run.py build/release/queue_process --count "${SOAK_COUNT:-1000}" || exit 1
"$PYTHON" -B tests/redeploy/soak.py build/release/millstream --count "${SOAK_COUNT:-1000}"
