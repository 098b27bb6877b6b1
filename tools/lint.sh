#!/bin/bash
# Format, static analysis and self-contained files. `--format` rewrites instead of checking.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-/usr/bin/python3}
JOBS=${JOBS:-$(nproc)}
mapfile -t sources < <(git ls-files '*.cc' '*.h' | grep -vE '_gen\.|^tools/templates/')

if [ "${1:-}" = "--format" ]; then
  printf '%s\n' "${sources[@]}" | xargs -P"$JOBS" -n40 clang-format-19 -i
  exit 0
fi

echo "=== Format"
printf '%s\n' "${sources[@]}" | xargs -P"$JOBS" -n40 clang-format-19 --dry-run --Werror
echo "=== Generated files, layers, tidy"
"$PYTHON" tools/gen.py --check
"$PYTHON" tools/check_layers.py
"$PYTHON" tools/check_traps.py
"$PYTHON" tools/tidy.py
echo "=== Every file on its own"
[ -f build/lint/build.ninja ] || cmake --preset lint
ninja -C build/lint -j"$JOBS"
echo "=== clang-tidy"
printf '%s\n' "${sources[@]}" | grep '^src/.*\.cc$' | grep -vE '_(test|bench)\.cc$' |
  xargs -P"$JOBS" -n8 clang-tidy-19 -p build/lint --quiet \
    --extra-arg=-Wno-unknown-warning-option
