#!/bin/bash
# 2,000 requests at once, each waiting 100 ms for a back end: a forwarding server on two cores and a
# delaying back end of our own, driven by wrk. Prints requests a second and the threads of the server.
#   bench/http_wait.sh [PATH-TO-http_echo] [SECONDS]
set -euo pipefail
program=${1:-build/release/bench/http_echo}
seconds=${2:-5}
ulimit -n "$(ulimit -Hn)"
dir=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
wait_for_port() {
  for _ in $(seq 100); do [ -s "$1" ] && break; sleep 0.05; done
  head -1 "$1"
}
"$program" --cores 2 --delay-ms 100 > "$dir/backend" & pids+=($!)
backend_port=$(wait_for_port "$dir/backend")
"$program" --cores 2 --forward "$backend_port" > "$dir/server" & pids+=($!)
server=$!
port=$(wait_for_port "$dir/server")
wrk -t1 -c2000 -d"$seconds" --timeout 10s "http://127.0.0.1:$port/" > "$dir/wrk" & driver=$!
sleep "$((seconds - 1))"
echo "threads of the server: $(ls /proc/$server/task | wc -l), resident $(awk '/VmRSS/ {print $2 / 1024}' /proc/$server/status) MB"
wait "$driver"
grep -E 'Requests/sec|Non-2xx|Socket errors|Latency' "$dir/wrk" || true
