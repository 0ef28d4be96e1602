#!/bin/sh
# The tests in VS Code's own workbench: all of them in the newest, and beside them, in the oldest that the extension runs in,
# all that need VS Code. What takes longer than 10 minutes is ended, with all that it started, and so is all when this is.
set -u
cd "$(dirname "$0")/.."
run() { exec timeout -k 20 600 node --test --test-concurrency=1 --test-reporter=spec "$@"; }
said=$(mktemp) running=
trap 'rm -f "$said"; [ -z "$running" ] || kill $running 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
(export WORKBENCH=floor; run $(ls test/e2e/*.test.mjs | grep -v agentPage)) >"$said" 2>&1 &
running=$!
run test/e2e/*.test.mjs &
running="$! $running"
wait ${running% *}
newest=$?
wait ${running#* }
old=$?
running=
echo "== in the oldest VS Code"
cat "$said"
[ $newest = 0 ] && [ $old = 0 ]
