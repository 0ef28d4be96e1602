#!/bin/sh
# Tries the server of each system that can be run on this one: Linux x64 as it is and where there is nothing else, Linux arm64
# under qemu, Windows x64 under Wine. It is run from the project's root, after `make cross` has made the binaries in dist/.
set -eu
here=internal/test/platforms/testdata
export CGO_CFLAGS="-O2 -w"
missing=""
command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static"
[ -x /bin/busybox ] && /bin/busybox --list | grep -qx chroot || missing="$missing busybox-static"
if [ -n "$missing" ]; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo; echo "== $*"; }

say "Linux x64"
SIDECAR_SERVER="$PWD/dist/linux-amd64/sidecar-ls" go test -count=1 -timeout 10m -v ./internal/test/platforms

say "Linux x64 where there is nothing but busybox"
mkdir -p "$work/root/bin" "$work/root/tmp" "$work/root/project"
cp dist/linux-amd64/sidecar-ls "$work/root/bin/"
cp /bin/busybox "$work/root/bin/sh"
echo one >"$work/root/project/a.txt"
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
in_root() { (cd / && $sudo env -i PATH=/bin HOME=/tmp "$(PATH=$PATH:/usr/sbin command -v chroot)" "$work/root" /bin/sidecar-ls "$@"); }
in_root --version
in_root call --root /project read_file path=a.txt | grep -q one
in_root call --root /project --mode review write_file path=a.txt content=two | grep -q "Held for review"
in_root review --root /project accept >/dev/null
grep -q two "$work/root/project/a.txt"
if in_root call --root /project run_command command=true 2>"$work/said"; then :; fi
! grep -qi panic "$work/said"

say "Linux x64 with a clock that is years off"
$here/clock.sh

say "Linux arm64, under qemu"
SIDECAR_SERVER="qemu-aarch64-static $PWD/dist/linux-arm64/sidecar-ls" go test -count=1 -timeout 20m -v ./internal/test/platforms

say "Windows x64, under Wine"
$here/windows.sh
WINEPREFIX="$($here/wine.sh)" WINEDEBUG=-all wine dist/windows-amd64/sidecar-ls.exe --version
