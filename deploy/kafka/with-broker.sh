#!/usr/bin/env bash
# Runs a command with a Kafka broker that lives as long as the command does.
#
#   deploy/kafka/with-broker.sh COMMAND [ARGUMENT...]
#
# The command finds the broker's address in KAFKA_BROKERS; an argument `{brokers}` is replaced by it. Where KAFKA_BROKERS
# is set already, that broker is used and nothing is started. The exit code is the command's.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -ge 1 ] || {
  echo "usage: deploy/kafka/with-broker.sh COMMAND [ARGUMENT...]" >&2
  exit 1
}

if [ -z "${KAFKA_BROKERS:-}" ]; then
  FOLDER="$(mktemp -d)"
  stop() {
    "$HERE/stop.sh" "$FOLDER" || true
    rm -rf "$FOLDER"
  }
  # A signal to this script ends it through `exit`, so that the broker is stopped then too.
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  KAFKA_BROKERS="$("$HERE/start.sh" "$FOLDER")"
  export KAFKA_BROKERS
  echo "Kafka runs at $KAFKA_BROKERS" >&2
fi
"${@//\{brokers\}/$KAFKA_BROKERS}"
