#!/bin/bash
# CPU per request of our HTTP server beside nginx `return 200`, both with one worker on core 0 and the
# driver (wrk) on core 1, in alternating rounds of the same run.
#   bench/http_floor.sh [--tls] [PATH-TO-http_echo] [ROUNDS] [SECONDS] [BODY-BYTES]
# --tls: over TLS 1.3, both with the same certificate and cipher.
set -euo pipefail
scheme=http
[ "${1:-}" = --tls ] && scheme=https && shift
echo_program=${1:-build/release/bench/http_echo}
rounds=${2:-3}
seconds=${3:-4}
body_bytes=${4:-100}
dir=$(mktemp -d)
chmod 755 "$dir"  # the worker of nginx is another user
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

nginx_port=$(free_port)
head -c "$body_bytes" /dev/zero | tr '\0' x > "$dir/body.txt"
# A file of our size is what nginx serves best beyond the few bytes of a literal reply.
if [ "$body_bytes" -le 1000 ]; then reply="return 200 \"$(cat "$dir/body.txt")\";"
else reply='try_files /body.txt =404;'; fi
listen=$nginx_port tls='' echo_flags=()
if [ "$scheme" = https ]; then
  cipher=TLS_AES_128_GCM_SHA256
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/key.pem" -out "$dir/cert.pem" \
    -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2> /dev/null
  cat "$dir/key.pem" "$dir/cert.pem" > "$dir/server.pem"
  listen="$nginx_port ssl"
  tls="ssl_certificate $dir/cert.pem; ssl_certificate_key $dir/key.pem; ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites $cipher;"
  echo_flags=(--keys "$dir/server.pem" --ciphers "$cipher")
fi
cat > "$dir/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path $dir/body;
  proxy_temp_path $dir/proxy;
  fastcgi_temp_path $dir/fastcgi;
  uwsgi_temp_path $dir/uwsgi;
  scgi_temp_path $dir/scgi;
  server {
    listen 127.0.0.1:$listen;
    $tls
    root $dir;
    location / { default_type text/plain; $reply }
  }
}
CONF
taskset -c 0 /usr/sbin/nginx -c "$dir/nginx.conf" -p "$dir" & pids+=($!)
nginx_master=$!
taskset -c 0 "$echo_program" --bytes "$body_bytes" "${echo_flags[@]}" > "$dir/port" & pids+=($!)
ours=$!
for _ in $(seq 100); do
  [ -s "$dir/port" ] && curl -sk -o /dev/null "$scheme://127.0.0.1:$nginx_port/" && break
  sleep 0.05
done
our_port=$(head -1 "$dir/port")
nginx_worker=$(pgrep -P "$nginx_master" | head -1)
ticks=$(getconf CLK_TCK)

cpu_ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }

# name pid port -> "requests-per-second microseconds-per-request"
measure() {
  local before after out requests
  before=$(cpu_ticks "$1")
  out=$(taskset -c 1 wrk -t1 -c32 -d"$seconds" "$scheme://127.0.0.1:$2/")
  after=$(cpu_ticks "$1")
  requests=$(awk '/requests in/ {print $1}' <<< "$out")
  if grep -q 'Non-2xx' <<< "$out"; then echo "errors in the replies" >&2; exit 1; fi
  awk -v r="$requests" -v t="$((after - before))" -v hz="$ticks" -v s="$seconds" \
    'BEGIN {printf "%d %.2f\n", r / s, t / hz * 1e6 / r}'
}

printf '%-8s %10s %14s\n' server req/s 'CPU us/request'
nginx_sum=0 our_sum=0
for round in $(seq "$rounds"); do
  read -r rate cost <<< "$(measure "$nginx_worker" "$nginx_port")"
  printf '%-8s %10s %14s\n' nginx "$rate" "$cost"
  nginx_sum=$(awk -v a="$nginx_sum" -v b="$cost" 'BEGIN {print a + b}')
  read -r rate cost <<< "$(measure "$ours" "$our_port")"
  printf '%-8s %10s %14s\n' ours "$rate" "$cost"
  our_sum=$(awk -v a="$our_sum" -v b="$cost" 'BEGIN {print a + b}')
done
awk -v n="$nginx_sum" -v o="$our_sum" -v r="$rounds" \
  'BEGIN {printf "mean: nginx %.2f us, ours %.2f us, ratio %.2f\n", n / r, o / r, o / n}'
