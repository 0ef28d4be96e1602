#!/bin/sh
# Puts the language servers that the tests run into a cache outside the repository, by the Go command and npm, and prints the
# directory. What is there is left alone, so running it again costs nothing. internal/test/servers finds them.
set -eu
GOPLS=v0.23.0

here=$(cd "$(dirname "$0")" && pwd)
DIR=${SIDECAR_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-servers}
mkdir -p "$DIR"

gopls="$DIR/gopls-$GOPLS"
if [ ! -x "$gopls/gopls" ]; then
  echo "setup: gopls $GOPLS" >&2
  (cd "$here" && GOBIN="$gopls" "${GO:-go}" install "golang.org/x/tools/gopls@$GOPLS")
fi
ln -sfn "$gopls" "$DIR/gopls"

lock=$(cksum <"$here/typescript/package-lock.json" | cut -d' ' -f1)
typescript="$DIR/typescript-$lock"
if [ ! -f "$typescript/.ready" ]; then
  echo "setup: typescript-language-server" >&2
  rm -rf "$typescript"
  mkdir -p "$typescript"
  cp "$here/typescript/package.json" "$here/typescript/package-lock.json" "$typescript"
  (cd "$typescript" && npm ci --ignore-scripts --no-audit --no-fund --silent >&2)
  touch "$typescript/.ready"
fi
ln -sfn "$typescript" "$DIR/typescript"
echo "$DIR"
