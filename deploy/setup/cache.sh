# Where fetched things live, and how they are checked. Sourced by the scripts beside it.
#
# $CACHE is HYPERCANE_CACHE or .cache in the checkout. $SHARED is the user's own cache, which spares a fresh clone the
# network: it is read when its checksums match, and filled when something had to be fetched.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
CACHE="${HYPERCANE_CACHE:-$ROOT/.cache}"
SHARED="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/hypercane"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
need() { command -v "$1" >/dev/null 2>&1 || die "\`$1\` is not installed; $2"; }

# intact DIR SUMS: every file that SUMS (in the form of sha256sum) names lies in DIR with that content.
intact() { [ -d "$1" ] && (cd "$1" && sha256sum --check --status --strict -) <"$2" 2>/dev/null; }

# place FROM TO: copies a folder so that TO appears whole or not at all, even when two runs meet.
place() {
  local fresh
  mkdir -p "$(dirname "$2")" || return 1
  fresh="$(mktemp -d "$(dirname "$2")/.incoming.XXXXXX")" || return 1
  cp -R "$1/." "$fresh/" && chmod 755 "$fresh" && rm -rf "$2" && mv -T "$fresh" "$2" 2>/dev/null || {
    rm -rf "$fresh"
    # The other run was quicker: its copy is as good as ours.
    [ -d "$2" ]
  }
}

# ensure NAME SUMS FETCH: makes $CACHE/NAME hold the files of SUMS; FETCH is a function that fills the folder it is given.
ensure() {
  local name="$1" sums="$2" fetch="$3"
  if intact "$CACHE/$name" "$sums"; then return 0; fi
  if intact "$SHARED/$name" "$sums"; then
    place "$SHARED/$name" "$CACHE/$name" || die "can't write to $CACHE; set HYPERCANE_CACHE to a folder that can be written"
    say "$name: taken from $SHARED"
    return 0
  fi
  mkdir -p "$CACHE" || die "can't make the folder $CACHE; set HYPERCANE_CACHE to a folder that can be written"
  WORK="$(mktemp -d "$CACHE/.fetch.XXXXXX")" || die "can't write to $CACHE; set HYPERCANE_CACHE to a folder that can be written"
  trap 'rm -rf "$WORK"' EXIT
  mkdir "$WORK/out"
  say "$name: fetching"
  "$fetch" "$WORK" "$WORK/out"
  if ! intact "$WORK/out" "$sums"; then
    (cd "$WORK/out" && sha256sum --check --strict --quiet -) <"$sums" >&2 || true
    die "what was fetched for $name differs from the checksums in ${sums#"$ROOT"/}; nothing was kept"
  fi
  place "$WORK/out" "$CACHE/$name" || die "can't write to $CACHE/$name"
  if [ "$CACHE" != "$SHARED" ]; then place "$WORK/out" "$SHARED/$name" 2>/dev/null || true; fi
  rm -rf "$WORK"
  trap - EXIT
}
