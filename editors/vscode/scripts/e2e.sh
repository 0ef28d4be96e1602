#!/bin/sh
# The tests of the extension on a screen, in parts that its arguments name, beside each other: in VS Code's own workbench, the
# newest and the floor, which is the oldest that the extension runs in, and of the Agent view's page alone. A part that takes
# longer than 25 minutes is ended, with all that it started, and so is all when this is.
#
#   e2e.sh [newest] [floor] [page]
set -u
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- newest floor page
dir=$(mktemp -d) running=
trap 'rm -rf "$dir"; [ -z "$running" ] || kill $running 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
part() {
  name=$1; shift
  (export WORKBENCH="$name"; exec timeout -k 20 1500 node --test --test-concurrency=1 --test-reporter=spec "$@") >"$dir/$name" 2>&1 &
  running="$running $!"
}
# What takes its steps from agentStep.mjs needs no workbench.
for name in "$@"; do
  case $name in
    newest | floor) part "$name" $(grep -L agentStep.mjs test/e2e/*.test.mjs) ;;
    page) part page $(grep -l agentStep.mjs test/e2e/*.test.mjs) ;;
    *) echo "e2e.sh: there is no part $name" >&2; exit 2 ;;
  esac
done
failed=0
for pid in $running; do wait "$pid" || failed=1; done
running=
for name in "$@"; do echo "== $name"; cat "$dir/$name"; done
exit $failed
