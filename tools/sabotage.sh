#!/bin/bash
# Builds the queue store with each of its promises broken on purpose, and runs the quick proof on
# it: one that is not caught says that the proof is worth nothing. The same proof on the store as it
# is comes first (CONTROL), and has to pass. Prints a table; the last line is
# "N passed, N failed". SABOTAGE="NAME..." runs only those; BUILD changes the build folder.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
JOBS=${JOBS:-$(nproc)}
BUILD=${BUILD:-build/debug}
LOGS=build/test-logs
SABOTAGE=${SABOTAGE:-EARLY_ACKNOWLEDGE SKIPPED_FLUSH SKIPPED_DIRECTORY_SYNC IGNORED_CHECKSUM FORGOTTEN_PREPARE REWRITTEN_PAGE}
mkdir -p "$LOGS"
[ -f "$BUILD/build.ninja" ] || cmake -B "$BUILD" --preset debug >/dev/null
passed=0
failed=0
printf '%-24s %-10s %s\n' "broken promise" "result" "caught by"

# prove BINARY-OF-THE-PROOF BINARY-OF-THE-STORE-TESTS: what failed, in `caught`.
prove() {
  caught=
  "$1" simulate --quick-stop >>"$log" 2>&1 || caught="simulation"
  "$1" exhaustive --quick-stop >>"$log" 2>&1 || caught="${caught:+$caught, }exhaustive"
  "$2" -sf='*queue/store/*' --abort-after=1 >>"$log" 2>&1 || caught="${caught:+$caught, }store tests"
}

log="$LOGS/sabotage-CONTROL.log"
if ninja -C "$BUILD" -j"$JOBS" queue_proof queue_test >"$log" 2>&1; then
  prove "$BUILD/queue_proof" "$BUILD/queue_test"
else
  caught="the compiler"
fi
if [ -z "$caught" ]; then
  printf '%-24s %-10s\n' "CONTROL (none)" "passes"
  passed=$((passed + 1))
else
  printf '%-24s %-10s %s\n' "CONTROL (none)" "FAILS" "$caught; see $log"
  failed=$((failed + 1))
fi
for name in $SABOTAGE; do
  log="$LOGS/sabotage-$name.log"
  if ! ninja -C "$BUILD" -j"$JOBS" "queue_proof_$name" "store_test_$name" >"$log" 2>&1; then
    printf '%-24s %-10s %s\n' "$name" "NOT BUILT" "see $log"
    failed=$((failed + 1))
    continue
  fi
  prove "$BUILD/sabotage/queue_proof_$name" "$BUILD/sabotage/store_test_$name"
  if [ -n "$caught" ]; then
    printf '%-24s %-10s %s\n' "$name" "caught" "$caught"
    passed=$((passed + 1))
  else
    printf '%-24s %-10s\n' "$name" "SURVIVES"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
