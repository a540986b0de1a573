#!/usr/bin/env bash
# Looks whether the machine has what is needed, and does nothing when it has. What is missing is installed by apt-get where
# that is possible (Debian or Ubuntu, as root), else it is named.
#
#   deploy/setup/packages.sh build [kafka]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"

has() { command -v "$1" >/dev/null 2>&1; }
# has_java_17: a runtime of version 17 or newer; `java -version` prints `openjdk version "17.0.1"`.
has_java_17() {
  local version
  version="$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)"
  [ -n "$version" ] && [ "$version" -ge 17 ]
}

# look: fills MISSING with the Debian packages that provide what is not there.
look() {
  MISSING=()
  for part in "$@"; do
    case "$part" in
    build)
      has cc || MISSING+=(gcc libc6-dev)
      has c++ || MISSING+=(g++)
      has cmake || MISSING+=(cmake)
      has pkg-config || MISSING+=(pkg-config)
      # librdkafka needs OpenSSL for TLS and SASL.
      { has pkg-config && pkg-config --exists openssl; } || MISSING+=(libssl-dev)
      has python3 || MISSING+=(python3)
      { has python3 && python3 -m pip --version >/dev/null 2>&1; } || MISSING+=(python3-pip)
      ;;
    kafka)
      { has java && has_java_17; } || MISSING+=(openjdk-17-jre-headless)
      has mvn || MISSING+=(maven)
      ;;
    *) die "packages.sh knows no part \`$part\`; there are: build, kafka" ;;
    esac
  done
}

[ $# -ge 1 ] || die "usage: deploy/setup/packages.sh build [kafka]"
has cargo || die "cargo is not installed; install Rust 1.95 or newer"
look "$@"
[ ${#MISSING[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ] || ! has apt-get; then
  die "not installed: ${MISSING[*]} (names of Debian packages); install them, then try again"
fi
say "installing ${MISSING[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get install --yes --no-install-recommends "${MISSING[@]}" >&2 || {
  apt-get update >&2 && apt-get install --yes --no-install-recommends "${MISSING[@]}" >&2
} || die "apt-get could not install ${MISSING[*]}; install them by hand, then try again"
look "$@"
[ ${#MISSING[@]} -eq 0 ] || die "still not there after the installation: ${MISSING[*]}"
