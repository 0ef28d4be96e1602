#!/bin/sh
# Prepares a Wine prefix in which Go's programs run, and prints its directory. Running it again costs nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export WINEPREFIX="${SIDECAR_WINE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-wine}" WINEDEBUG=-all
library="$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
if [ ! -f "$library" ]; then
  mkdir -p "$(dirname "$WINEPREFIX")"
  wineboot -i >/dev/null 2>&1
  # It is written beside and renamed: a cut run is not taken for a whole one. What wineboot starts ends first.
  wineserver -w
  x86_64-w64-mingw32-gcc -shared -O2 -o "$library.new" "$here/bcryptprimitives.c" -ladvapi32
  mv "$library.new" "$library"
fi
echo "$WINEPREFIX"
