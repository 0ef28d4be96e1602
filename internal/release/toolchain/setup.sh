#!/bin/sh
# Installs the C compilers that the six builds take: Debian's for Linux and for Windows x64, and zig, which comes from npm, for
# macOS and Windows arm64. It prints the directory that zig is in. What is there is left alone, so running it again costs nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
missing=""
command -v musl-gcc >/dev/null || missing="$missing musl-tools"
command -v aarch64-linux-gnu-gcc >/dev/null || missing="$missing gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
command -v x86_64-w64-mingw32-gcc >/dev/null || missing="$missing gcc-mingw-w64-x86-64"
command -v npm >/dev/null || missing="$missing nodejs npm"
if [ -n "$missing" ]; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing; } >&2
fi
DIR=${SIDECAR_TOOLCHAIN:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-toolchain}
zig="$DIR/$(cksum <"$here/package-lock.json" | cut -d' ' -f1)"
if [ ! -f "$zig/.ready" ]; then
  rm -rf "$zig"
  mkdir -p "$zig"
  cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$zig"
  (cd "$zig" && npm ci --ignore-scripts --loglevel=error >&2)
  touch "$zig/.ready"
fi
echo "$zig"
