#!/bin/sh
# The tests in VS Code's own workbench: all of them in the newest, and beside them, in the oldest that the extension runs in,
# all that need VS Code. What takes longer than 10 minutes is ended, with all that it started.
set -u
cd "$(dirname "$0")/.."
run() { timeout -k 20 600 node --test --test-concurrency=1 --test-reporter=spec "$@"; }
said=$(mktemp)
trap 'rm -f "$said"' EXIT
WORKBENCH=floor run $(ls test/e2e/*.test.mjs | grep -v agentPage) >"$said" 2>&1 &
floor=$!
run test/e2e/*.test.mjs
newest=$?
wait $floor
old=$?
echo "== in the oldest VS Code"
cat "$said"
[ $newest = 0 ] && [ $old = 0 ]
