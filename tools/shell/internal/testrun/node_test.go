package testrun

import "testing"

// TestOwnFrames: of where a failure came from, a model reads what is the
// project's.
func TestOwnFrames(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"the runner's end":      {"Error: x\n    at f (/p/a.js:1:2)\n    at g (/p/node_modules/jest/b.js:3:4)\n    at new Promise (<anonymous>)", "Error: x\n    at f (/p/a.js:1:2)"},
		"a package between":     {"Error: x\n    at f (/p/a.js:1:2)\n    at each (file:///p/node_modules/l/b.js:3:4)\n    at g (/p/a.js:9:1)", "Error: x\n    at f (/p/a.js:1:2)\n    at g (/p/a.js:9:1)"},
		"what the project runs": {"Error: x\n    at /p/a.js:1:2\n    at Array.map (<anonymous>)\n    at /p/a.js:4:2", "Error: x\n    at /p/a.js:1:2\n    at Array.map (<anonymous>)\n    at /p/a.js:4:2"},
		"Node itself":           {"Error: x\n    at /p/a.js:1:2\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)", "Error: x\n    at /p/a.js:1:2"},
		"a package alone":       {"Error: x\n    at f (/p/node_modules/l/b.js:1:2)\n    at g (/p/node_modules/l/c.js:3:4)", "Error: x\n    at f (/p/node_modules/l/b.js:1:2)"},
		"two errors":            {"Error: x\n    at f (/p/node_modules/l/b.js:1:2)\nCaused by: y\n    at g (/p/a.js:3:4)", "Error: x\nCaused by: y\n    at g (/p/a.js:3:4)"},
		"no frame":              {"expected node_modules/ to be at node_modules/x\n", "expected node_modules/ to be at node_modules/x\n"},
		"nothing":               {"", ""},
	} {
		if got := ownFrames(c.message); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
