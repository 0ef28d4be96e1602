package world_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestBuildsBesideTheDisk prints what the first and the second build of a small project take in
// a world, beside the same on the disk, in turns: both find what the user's builds have cached.
// With what they say about this machine nothing is asserted but that they work.
func TestBuildsBesideTheDisk(t *testing.T) {
	slow.Rare(t)
	const rounds = 5
	files := map[string]string{
		"go.mod":       "module example.org/small\n\ngo 1.24\n",
		"package.json": `{"name": "small", "version": "1.0.0", "scripts": {"test": "node --test"}}`,
		".gitignore":   "out\n",
	}
	main, calls := "package main\n\nimport (\n\t\"os\"\n", ""
	for i := range 8 {
		files[fmt.Sprintf("p%d/p.go", i)] = fmt.Sprintf("package p%d\n\nimport (\n\t\"encoding/json\"\n\t\"io\"\n)\n\n// F writes.\nfunc F(w io.Writer) error { return json.NewEncoder(w).Encode(%d) }\n", i, i)
		files[fmt.Sprintf("test/t%d.test.js", i)] = fmt.Sprintf("require('node:test')('t', () => require('node:assert').equal(%d, %d))\n", i, i)
		main += fmt.Sprintf("\t\"example.org/small/p%d\"\n", i)
		calls += fmt.Sprintf("\t_ = p%d.F(os.Stdout)\n", i)
	}
	files["main.go"] = main + ")\n\nfunc main() {\n" + calls + "}\n"
	for name, c := range map[string]struct{ program, line string }{
		"go":   {"go", "go build -o out/small ."},
		"node": {"node", "node --test"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil { // the system's: what it builds is ours
				needs.Skip(t, needs.Node, err)
			}
			cache := os.Getenv("GOCACHE")
			if cache == "" {
				dir, err := os.UserCacheDir()
				if err != nil {
					t.Fatal(err)
				}
				cache = filepath.Join(dir, "go-build")
			}
			took := map[string][]time.Duration{}
			time1 := func(what string, run func()) {
				began := time.Now()
				run()
				took[what] = append(took[what], time.Since(began))
			}
			for range rounds {
				dir := e2e.WorldProject(t, "overlay", files)
				t.Setenv("GOCACHE", cache)
				t.Setenv("GOTOOLCHAIN", "local")
				r := e2e.WorldIn(t, dir)
				beside := e2e.Project(t, files)
				onDisk := func() {
					cmd := exec.CommandContext(t.Context(), "sh", "-c", c.line)
					cmd.Dir = beside
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
				}
				for _, n := range []string{"first", "second"} {
					time1(n+" in a world", func() { r.Ran(c.line) })
					time1(n+" on the disk", onDisk)
				}
			}
			median := func(what string) time.Duration { return slices.Sorted(slices.Values(took[what]))[rounds/2] }
			for _, n := range []string{"first", "second"} {
				in, on := median(n+" in a world"), median(n+" on the disk")
				t.Logf("%s, %s: %v in a world, %v on the disk: ×%.2f", name, n, in.Round(time.Millisecond), on.Round(time.Millisecond), float64(in)/float64(on))
			}
		})
	}
}

// TestBuildWithoutRepository: a Go program is built in a folder that is no repository, in
// spite of what stands in for one.
func TestBuildWithoutRepository(t *testing.T) {
	files := map[string]string{"go.mod": "module example.org/small\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() { println(1) }\n", ".gitignore": "out\n"}
	dir := e2e.WorldProject(t, "overlay", files)
	t.Setenv("GOTOOLCHAIN", "local")
	r := e2e.WorldIn(t, dir)
	r.Ran("go build -o out/small . && ./out/small 2>&1", "1\n")
	r.Ran(`echo "[$GOFLAGS]"`, "[-buildvcs=false]")
	e2e.GitIn(t, dir, "init", "-q")
	r.Ran(`echo "[$GOFLAGS]"`, "[]") // the session's shell does not keep it
	r.Ran(`export GOFLAGS=-mod=mod`)
	r.Ran(`echo "[$GOFLAGS]"`, "[-mod=mod]")
}
