#!/usr/bin/env bash
# Runs one pipeline as several processes on this machine, which share the partitions of its topics.
#
#   deploy/cluster/run-local.sh N CONFIG [ARGUMENT...]
#
# N processes of `hypercane run CONFIG ARGUMENT...` are started; HYPERCANE names another program than target/release/hypercane.
# Their logs go to standard error, each line with its process in front. SIGINT or SIGTERM stops them all: each finishes its
# epoch, the first one commits. When one ends with an error, the others end too. The exit code is the first that is not 0.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
HYPERCANE="${HYPERCANE:-$ROOT/target/release/hypercane}"
[ $# -ge 2 ] && [ "$1" -ge 1 ] 2>/dev/null || {
  echo "usage: deploy/cluster/run-local.sh N CONFIG [ARGUMENT...]" >&2
  exit 1
}
N="$1"
CONFIG="$2"
shift 2

HOSTS="$(mktemp)"
trap 'rm -f "$HOSTS"' EXIT
# Ports that are free now; the system gives other ones to others for a while.
python3 - "$N" > "$HOSTS" << 'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
    print("127.0.0.1:%d" % s.getsockname()[1])
PYTHON

PROCESSES=()
for ((i = 0; i < N; i++)); do
  "$HYPERCANE" run "$CONFIG" --process "$i" --hostfile "$HOSTS" "$@" 2> >(sed -u "s/^/[$i] /" >&2) &
  PROCESSES+=("$!")
done
trap 'kill -TERM "${PROCESSES[@]}" 2> /dev/null || true' INT TERM

CODE=0
for process in "${PROCESSES[@]}"; do
  # A signal ends `wait` early; the process is waited for again.
  while :; do
    ENDED=0
    wait "$process" || ENDED=$?
    kill -0 "$process" 2> /dev/null || break
  done
  [ "$CODE" -ne 0 ] || CODE="$ENDED"
done
exit "$CODE"
