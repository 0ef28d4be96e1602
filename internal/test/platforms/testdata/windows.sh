#!/bin/sh
# Tries the Windows server under Wine: its main job, driven by an editor that is itself a Windows program. It is run from the
# project's root.
#
#   windows.sh            the server as it is released, with the parsers, and the unit tests of what Windows does otherwise
#   windows.sh --quick    the server without the parsers, which is built in a third of the time
#   windows.sh --setup    nothing is tried; what that needs is installed
set -eu
here=internal/test/platforms/testdata
export CGO_CFLAGS="-O2 -w" CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc
[ "${1:-}" != --quick ] || CGO_ENABLED=0
missing=""
command -v wine >/dev/null || missing="$missing wine wine64"
command -v $CC >/dev/null || missing="$missing gcc-mingw-w64-x86-64"
if [ -n "$missing" ]; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
if [ "${1:-}" = --setup ]; then "$here/wine.sh" >/dev/null; exit 0; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Wine 8 does not know how Go deletes a file below a directory that it has open, and answers with a status that Go does not
# expect. Go has another way for old systems: what runs under Wine is compiled to take it; what is released is not.
at=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/^var TestDeleteatFallback bool/var TestDeleteatFallback = true/' "$at" >"$work/at_windows.go"
if cmp -s "$at" "$work/at_windows.go"; then echo "Go deletes in another way by now: change windows.sh" >&2; exit 1; fi
printf '{"Replace":{"%s":"%s"}}' "$at" "$work/at_windows.go" >"$work/overlay.json"
go_windows() { verb=$1; shift; GOOS=windows go "$verb" -overlay "$work/overlay.json" "$@"; }

export WINEPREFIX="$($here/wine.sh)" WINEDEBUG=-all
# One run at a time: what hangs at its end is ended, and that of another one would be, too. What is Wine's own ends some seconds
# after the last program.
exec 9>"$WINEPREFIX/.sidecar-lock"
flock -w 1800 9 || { echo "another run, or what is left of one, holds $WINEPREFIX" >&2; exit 1; }
trap 'timeout 30 wineserver -w || wineserver -k || true; rm -rf "$work"' EXIT
# What the first program under Wine starts lives on, and would keep the output of `go test` open.
wine cmd /c exit >/dev/null 2>&1
go_windows build -trimpath -o "$work/sidecar-ls.exe" ./cmd/sidecar-ls
SIDECAR_SERVER="$(winepath -w "$work/sidecar-ls.exe")" go_windows test -count=1 -timeout 20m -v -exec wine ./internal/test/platforms
[ "${1:-}" != --quick ] || exit 0
for pkg in ./internal/sys/osfile ./internal/box/world ./internal/exec/confine ./internal/sys/filelock ./internal/sys/proctree ./internal/sys/localsock ./internal/doors/handover ./internal/doors/attach ./internal/sys/shells ./internal/box/sandbox ./internal/box/sandbox/spec ./internal/sys/userdirs ./internal/rules/policy/shell ./tools/shell/internal/... ./pendingedits; do
  go_windows test -short -count=1 -timeout 10m -exec wine "$pkg"
done
# Of these, what is about names of files; the rest of them needs links, a shell, or minutes.
for pkg in ./internal/files/workspace ./server ./tools/fs ./internal/agents/loop; do
  go_windows test -short -count=1 -timeout 10m -run 'Fold|Spell|Respell|Tried|HardLinks|ShortNames|Executable|AttachedPath' -exec wine "$pkg"
done
