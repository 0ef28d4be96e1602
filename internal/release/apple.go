package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// To link for macOS takes lists of what its libraries export, which Apple's SDK has and
// nobody may pass on. Go names all that it uses of them in its sources: so the lists are
// made from those. zig brings the one of libSystem.

// imported is a line by which Go's sources name a symbol of a library.
var imported = regexp.MustCompile(`(?m)^//go:cgo_import_dynamic \S+ (\S+) "(/(?:usr/lib|System)/[^"]+)"`)

const systemLibrary = "/usr/lib/libSystem.B.dylib"

// appleStubs writes the lists for t and returns their directory.
func (b *build) appleStubs(ctx context.Context, t target) (string, error) {
	libraries, err := appleSymbols(ctx, ".", t)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.out, ".stubs", t.String())
	for library, symbols := range libraries {
		name := stubFile(library)
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(stub(library, symbols)), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// appleSymbols are the symbols that the program takes of each library; root has its module.
func appleSymbols(ctx context.Context, root string, t target) (map[string][]string, error) {
	found, err := outputIn(ctx, root, []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=1"},
		"go", "list", "-deps", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, "./cmd/sidecar-ls")
	if err != nil {
		return nil, err
	}
	sets := map[string]map[string]bool{}
	for file := range strings.Lines(found) {
		if file = strings.TrimSpace(file); file == "" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range imported.FindAllStringSubmatch(string(source), -1) {
			symbol, library := m[1], m[2]
			if library == systemLibrary {
				continue
			}
			if sets[library] == nil {
				sets[library] = map[string]bool{}
			}
			sets[library][symbol] = true
		}
	}
	lists := map[string][]string{}
	for library, set := range sets {
		lists[library] = slices.Sorted(maps.Keys(set))
	}
	return lists, nil
}

// stubFile is where a linker looks for the list of a library, below its search path.
func stubFile(library string) string {
	name := path.Base(library)
	if strings.Contains(library, ".framework/") {
		return path.Join(name+".framework", name+".tbd")
	}
	name, _, _ = strings.Cut(name, ".") // libresolv.9.dylib is asked for as -lresolv
	return name + ".tbd"
}

// stub is the list, in the text format of Apple's linker.
func stub(library string, symbols []string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\ninstall-name: '%s'\n", library)
	s.WriteString("exports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    symbols:\n")
	for _, symbol := range symbols {
		fmt.Fprintf(&s, "      - _%s\n", symbol)
	}
	s.WriteString("...\n")
	return s.String()
}
