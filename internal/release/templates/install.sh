#!/bin/sh
# Installs the newest sidecar-ls for Linux and macOS: downloads the archive for this machine, checks it, and puts the program
# into a directory of yours. Nothing else is changed.
#
#   curl -fsSL https://github.com/sidecar-ls/sidecar-ls/releases/latest/download/install.sh | sh
#
# SIDECAR_BIN names the directory, by default ~/.local/bin; SIDECAR_RELEASE the address that holds the release, which may be a
# directory (file:///…) where there is no network.
set -eu
from=${SIDECAR_RELEASE:-https://github.com/sidecar-ls/sidecar-ls/releases/latest/download}
fail() { echo "install: $*" >&2; exit 1; }

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no program for $(uname -s) here; for Windows see docs/install.md" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no program for $(uname -m); build it with: go install github.com/sidecar-ls/sidecar-ls/cmd/sidecar-ls@latest" ;;
esac
# A shell under Rosetta says that the machine is an Intel.
if [ "$system-$machine" = darwin-amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then machine=arm64; fi

if [ -z "${SIDECAR_BIN:-}" ]; then
  [ -n "${HOME:-}" ] || fail "there is no home directory; name the directory to install to: SIDECAR_BIN=/usr/local/bin"
  SIDECAR_BIN=$HOME/.local/bin
fi
mkdir -p "$SIDECAR_BIN" 2>/dev/null && [ -w "$SIDECAR_BIN" ] || fail "$SIDECAR_BIN can't be written; name another directory in SIDECAR_BIN, or run this as somebody who may"
command -v curl >/dev/null || fail "curl is needed to download"
if command -v sha256sum >/dev/null; then check="sha256sum"; else check="shasum -a 256"; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
curl -fsSL -o "$work/SHA256SUMS" "$from/SHA256SUMS" || fail "$from/SHA256SUMS can't be read"
line=$(grep -E "  sidecar-ls-[0-9][^ ]*-$system-$machine\.tar\.gz\$" "$work/SHA256SUMS") || fail "the release has no archive for $system-$machine"
[ "$(echo "$line" | wc -l)" -eq 1 ] || fail "the release has several archives for $system-$machine"
archive=${line##*  }
curl -fsSL -o "$work/$archive" "$from/$archive" || fail "$from/$archive can't be read"
(cd "$work" && echo "$line" | $check -c - >/dev/null 2>&1) || fail "$archive is not what its checksum says; nothing was installed"
tar xzf "$work/$archive" -C "$work"
# It is renamed into place, so that a server that runs keeps its own file.
cp "$work/${archive%.tar.gz}/sidecar-ls" "$SIDECAR_BIN/.sidecar-ls.new"
chmod 755 "$SIDECAR_BIN/.sidecar-ls.new"
mv -f "$SIDECAR_BIN/.sidecar-ls.new" "$SIDECAR_BIN/sidecar-ls"
"$SIDECAR_BIN/sidecar-ls" --version
case ":$PATH:" in
  *":$SIDECAR_BIN:"*) ;;
  *) echo "$SIDECAR_BIN is not in PATH: add it there, so that editors and agents find sidecar-ls" ;;
esac
