#!/usr/bin/env bash
# Makes a capture of real traffic on this machine: two network namespaces, a veth pair between them, HTTP, DNS and ping
# through it, captured by tcpdump. As root this way is the only one and a failure is a failure; without root namespaces
# cannot be made, and a generator of valid frames takes its place.
#
# usage: capture.sh FILE GENERATOR
set -euo pipefail
out=$1 generator=$2

if [ "$(id -u)" -ne 0 ]; then
  echo "not root: frames are generated, not captured" >&2
  exec "$generator" "$out"
fi

work=$(mktemp -d)
here=slowpath-a-$$ there=slowpath-b-$$
cleanup() {
  for namespace in "$here" "$there"; do
    ip netns pids "$namespace" 2>/dev/null | xargs -r kill 2>/dev/null || true
    ip netns del "$namespace" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT

ip netns add "$here"
ip netns add "$there"
ip -n "$here" link add veth0 type veth peer name veth0 netns "$there"
ip -n "$here" address add 10.99.0.1/24 dev veth0
ip -n "$there" address add 10.99.0.2/24 dev veth0
for namespace in "$here" "$there"; do
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link set veth0 up
done
inside() { timeout 120 ip netns exec "$here" "$@"; }
peer() { timeout 120 ip netns exec "$there" "$@"; }

# Servers on the one side.
mkdir "$work/www"
head -c 400 /dev/urandom | base64 >"$work/www/page"
peer python3 -m http.server --directory "$work/www" 80 >/dev/null 2>&1 &
peer dnsmasq --keep-in-foreground --no-resolv --no-hosts --user=root --pid-file="$work/dns.pid" \
  --address=/example.test/10.99.0.2 >/dev/null 2>&1 &
ip netns exec "$here" tcpdump -i veth0 -B 65536 -s 256 -w "$out.part" 2>"$work/tcpdump" & # a job of its own, to be told to end
tcpdump=$!

# All three have to be ready.
for _ in $(seq 100); do
  if inside curl -sf -o /dev/null --max-time 1 http://10.99.0.2/page &&
    inside dig +short +tries=1 +time=1 @10.99.0.2 a.example.test >/dev/null &&
    grep -q listening "$work/tcpdump"; then
    ready=yes
    break
  fi
  sleep 0.1
done
[ -n "${ready:-}" ] || { echo "the servers of the capture did not start" >&2; cat "$work/tcpdump" >&2; exit 1; }

# Clients on the other, all at once, so that protocols are mixed.
seq 8000 | sed 's/.*/n&.example.test A/' >"$work/names"
inside dig @10.99.0.2 +noall -f "$work/names" >/dev/null &
clients=$!
inside curl -s -o /dev/null "http://10.99.0.2/page?[1-3000]" &
clients="$clients $!"
inside ping -q -f -c 45000 10.99.0.2 >/dev/null &
clients="$clients $!"
for client in $clients; do wait "$client"; done
sleep 0.3
kill -TERM "$tcpdump"
wait "$tcpdump" || { cat "$work/tcpdump" >&2; exit 1; }
captured=$(sed -n 's/ packets captured//p' "$work/tcpdump")
[ "${captured:-0}" -ge 100000 ] || { echo "only ${captured:-0} packets were captured" >&2; exit 1; }
chown "$(id -u)" "$out.part" # tcpdump gave up its rights
mv "$out.part" "$out"
