#!/bin/bash
# Builds and runs every fuzz target (fuzz/*_fuzz.cc) for FUZZ_SECONDS each. A crash stops the run; its
# input stays in build/fuzz/crashes/<target>/. `tools/fuzz.sh NAME...` runs only those.
# Seeds: fuzz/corpus/<target>/ (kept in the repository) and build/fuzz/corpus/<target>/ (grown here).
set -euo pipefail
cd "$(dirname "$0")/.."
JOBS=${JOBS:-$(nproc)}
SECONDS_EACH=${FUZZ_SECONDS:-60}
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz
names=("$@")
if [ "${#names[@]}" = 0 ]; then
  for source in fuzz/*_fuzz.cc; do names+=("$(basename "$source" .cc)"); done
fi
ninja -C build/fuzz -j"$JOBS" "${names[@]}"
passed=0
for name in "${names[@]}"; do
  echo "=== $name, $SECONDS_EACH s"
  program=$(find build/fuzz -name "$name" -type f -perm -u+x | head -1)
  grown=build/fuzz/corpus/$name
  crashes=build/fuzz/crashes/$name
  mkdir -p "$grown" "$crashes"
  seeds=()
  [ ! -d "fuzz/corpus/$name" ] || seeds=("fuzz/corpus/$name")
  dictionary=()
  [ ! -f "fuzz/$name.dict" ] || dictionary=("-dict=fuzz/$name.dict")
  "$program" "${dictionary[@]}" -max_total_time="$SECONDS_EACH" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$crashes/" "$grown" "${seeds[@]}" || {
    echo "$passed passed, 1 failed"
    exit 1
  }
  passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
