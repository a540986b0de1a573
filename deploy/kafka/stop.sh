#!/usr/bin/env bash
# Stops the broker that deploy/kafka/start.sh started in DIR. Does nothing when none runs there.
#
#   deploy/kafka/stop.sh DIR
set -euo pipefail
[ $# -eq 1 ] || {
  echo "usage: deploy/kafka/stop.sh DIR" >&2
  exit 1
}
[ -f "$1/kafka.pid" ] || exit 0
PID="$(cat "$1/kafka.pid")"
# A process id is used again after its process has gone: only a broker that was started on this folder is stopped.
running() { tr '\0' ' ' <"/proc/$PID/cmdline" 2>/dev/null | grep -q 'kafka\.Kafka .*/server\.properties' || ps -o args= -p "$PID" 2>/dev/null | grep -q 'kafka\.Kafka '; }
if running; then
  kill "$PID" 2>/dev/null || true
  for _ in $(seq 1 100); do
    running || break
    sleep 0.1
  done
  if running; then kill -KILL "$PID" 2>/dev/null || true; fi
fi
rm -f "$1/kafka.pid" "$1/kafka.brokers"
