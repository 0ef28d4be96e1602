#!/bin/sh
# Puts the agents that the tests run, and Vite, into a cache outside the repository, by npm, and prints the directory.
# What is there is left alone, so running it again costs nothing. internal/test/clients finds them.
#
# Gemini CLI and OpenCode are not among them: they have 100 and 180 MB (OpenCode twice that by npm), and take a minute more
# of a processor. The tests run them when a variable names the directory that has them:
#   npm install --ignore-scripts --prefix DIR @google/gemini-cli@0.61.0 opencode-ai@1.18.33
#   SIDECAR_AGENTS=DIR go test ./internal/test/e2e/... -run 'TestAgentsOverACP|TestAgentsInWorlds|TestRealGemini'
set -eu
here=$(cd "$(dirname "$0")" && pwd)
DIR=${SIDECAR_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-clients}
adapters=$here/../../../agents/adapter
lock=$(cat "$here/setup.sh" "$here/package-lock.json" "$here/vite/package-lock.json" "$adapters"/*/package-lock.json | cksum | cut -d' ' -f1)
clients="$DIR/$lock"
if [ ! -f "$clients/.ready" ]; then
  echo "setup: Claude Code and Codex, what drives them over ACP, and Vite" >&2
  rm -rf "$clients"
  mkdir -p "$clients"
  cp -R "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$clients"
  # The programs themselves come as packages for one platform each; no script of theirs is needed, nor the Node that they ask for.
  (cd "$clients" && npm ci --ignore-scripts --silent >&2)
  # The adapters drive those, and are where sidecar-ls installs them for a user whose data directory this is. Without what is
  # optional they bring no agents of their own.
  for agent in claude codex; do
    own=$clients/sidecar/adapters/$(sed -n 's#^.*"@.*/\(.*\)": "\(.*\)".*#\1-\2#p' "$adapters/$agent/package.json")
    mkdir -p "$own"
    cp "$adapters/$agent/package.json" "$adapters/$agent/package-lock.json" "$adapters/$agent/.npmrc" "$own"
    (cd "$own" && npm ci --ignore-scripts --omit=optional --silent >&2)
  done
  mkdir "$clients/vite"
  cp "$here/vite/package.json" "$here/vite/package-lock.json" "$here/vite/.npmrc" "$clients/vite"
  (cd "$clients/vite" && npm ci --ignore-scripts --silent >&2)
  touch "$clients/.ready"
fi
ln -sfn "$clients" "$DIR/now"
echo "$DIR"
