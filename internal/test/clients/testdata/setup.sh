#!/bin/sh
# Puts the agents that the tests run into a cache outside the repository, by npm, and prints the directory. What is there is
# left alone, so running it again costs nothing. internal/test/clients finds them.
#
# Gemini CLI and OpenCode are not among them: they have 100 and 180 MB (OpenCode twice that by npm), and take a minute more
# of a processor. The tests run them when a variable names the directory that has them:
#   npm install --ignore-scripts --prefix DIR @google/gemini-cli@0.61.0 opencode-ai@1.18.33
#   SIDECAR_AGENTS=DIR go test ./internal/app -run 'TestAgentsOverACP|TestAgentsInWorlds|TestRealGemini'
set -eu
here=$(cd "$(dirname "$0")" && pwd)
DIR=${SIDECAR_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-clients}
lock=$(cat "$here/package-lock.json" "$here/adapters/package-lock.json" | cksum | cut -d' ' -f1)
clients="$DIR/$lock"
if [ ! -f "$clients/.ready" ]; then
  echo "setup: Claude Code and Codex, and what drives them over ACP" >&2
  rm -rf "$clients"
  mkdir -p "$clients"
  cp -R "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$here/adapters" "$clients"
  # The programs themselves come as packages for one platform each; no script of theirs is needed, nor the Node that they ask for.
  (cd "$clients" && npm ci --ignore-scripts --silent >&2)
  # The adapters drive those: without what is optional they bring none of their own.
  (cd "$clients/adapters" && npm ci --ignore-scripts --omit=optional --silent >&2)
  touch "$clients/.ready"
fi
ln -sfn "$clients" "$DIR/now"
echo "$DIR"
