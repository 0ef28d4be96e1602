#!/bin/sh
# The tests of the extension on a screen, in three parts beside each other: in VS Code's own workbench, the newest and the
# oldest that the extension runs in, and of the Agent view's page alone. A part that takes longer than 25 minutes is ended,
# with all that it started, and so is all when this is.
set -u
cd "$(dirname "$0")/.."
dir=$(mktemp -d) running=
trap 'rm -rf "$dir"; [ -z "$running" ] || kill $running 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
part() {
  name=$1; shift
  (export WORKBENCH="$name"; exec timeout -k 20 1500 node --test --test-concurrency=1 --test-reporter=spec "$@") >"$dir/$name" 2>&1 &
  running="$running $!"
}
# What takes its steps from agentStep.mjs needs no workbench.
workbench=$(grep -L agentStep.mjs test/e2e/*.test.mjs)
part newest $workbench
part floor $workbench
part page $(grep -l agentStep.mjs test/e2e/*.test.mjs)
failed=0
for pid in $running; do wait "$pid" || failed=1; done
running=
for name in newest floor page; do echo "== $name"; cat "$dir/$name"; done
exit $failed
