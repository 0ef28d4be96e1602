package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// component is something of somebody else's that is in a binary.
type component struct {
	name, version string
	licence       string // its SPDX expression
	text          string // of the licence
	of            string // the targets whose binary has it; "" is all
	module        bool   // of Go, as which it can be had
}

// goLicenses finds the licence of each Go module: Google keeps it (Apache-2.0), and it
// reads what a licence says instead of what a file is called.
const goLicenses = "github.com/google/go-licenses@v1.6.0"

// linked are those that are no Go modules: Go itself, and what a C compiler puts into
// what it links.
var linked = []struct {
	component
	from func(context.Context, *build) (version, licence string, err error)
}{
	{component{name: "Go", licence: "BSD-3-Clause"}, func(ctx context.Context, _ *build) (string, string, error) {
		said, err := output(ctx, "go", "env", "GOVERSION", "GOROOT")
		version, root, _ := strings.Cut(said, "\n")
		return version, filepath.Join(root, "LICENSE"), err
	}},
	{component{name: "musl", licence: "MIT", of: "linux-amd64"}, debian("musl-dev")},
	{component{name: "GNU C Library", licence: "LGPL-2.1-or-later", of: "linux-arm64"}, debian("libc6-dev-arm64-cross")},
	{component{name: "GCC runtime library", licence: "GPL-3.0-or-later WITH GCC-exception-3.1", of: "linux-arm64"}, debian("libgcc-12-dev-arm64-cross")},
	{component{name: "MinGW-w64 runtime", licence: "ZPL-2.1", of: "windows-amd64"}, debian("mingw-w64-x86-64-dev")},
	{component{name: "zig runtime", licence: "MIT", of: "darwin-amd64, darwin-arm64, windows-arm64"}, func(_ context.Context, b *build) (string, string, error) {
		dir := filepath.Join(b.zig, "node_modules", "@zigc", "lib")
		var about struct{ Version string }
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &about)
		}
		return about.Version, filepath.Join(dir, "LICENSE"), err
	}},
}

// debian asks Debian what a package of it is, and whose.
func debian(pkg string) func(context.Context, *build) (version, licence string, err error) {
	return func(ctx context.Context, _ *build) (string, string, error) {
		version, err := output(ctx, "dpkg-query", "--show", "--showformat=${Version}", pkg)
		return version, filepath.Join("/usr/share/doc", pkg, "copyright"), err
	}
}

// components are all that the binaries for some targets have, by name.
func (b *build) components(ctx context.Context, some []target) ([]component, error) {
	template := filepath.Join(b.out, ".licences.tpl")
	if err := os.WriteFile(template, []byte("{{range .}}{{.Name}}\t{{.Version}}\t{{.LicenseName}}\t{{.LicensePath}}\n{{end}}"), 0o644); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(template) }()
	tool, err := b.tool(ctx, goLicenses)
	if err != nil {
		return nil, err
	}
	var all []component
	seen := map[string]bool{}
	for _, t := range some {
		if seen[t.os] {
			continue // its modules are those of the other machine
		}
		seen[t.os] = true
		list, err := outputOf(ctx, []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=1"}, tool, "report", "./cmd/sidecar-ls", "--ignore=github.com/sidecar-ls", "--template="+template)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 || slices.ContainsFunc(all, func(c component) bool { return c.name == f[0] }) {
				continue
			}
			c, err := module(f[0], f[1], f[2], f[3])
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, errors.New(goLicenses + " found no modules")
	}
	for _, l := range linked {
		if l.of != "" && !slices.ContainsFunc(some, func(t target) bool { return strings.Contains(l.of, t.String()) }) {
			continue
		}
		version, file, err := l.from(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("the licence of %s: %w", l.name, err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := l.component
		c.version, c.text = version, string(text)
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y component) int { return cmp.Compare(strings.ToLower(x.name), strings.ToLower(y.name)) })
	return all, nil
}

// module is a Go module by what go-licenses says of it. A licence that it can't name is
// somebody's to look at: no release has one.
func module(name, version, licence, file string) (component, error) {
	if licence == "" || licence == "Unknown" || file == "" || file == "Unknown" {
		return component{}, fmt.Errorf("nobody knows the licence of %s %s: read it, and leave the module out if it can't be passed on", name, version)
	}
	text, err := os.ReadFile(file)
	return component{name: name, version: version, licence: licence, text: string(text), module: true}, err
}

// notices is what each package has of the licences of others.
func notices(all []component) []byte {
	var s strings.Builder
	s.WriteString("sidecar-ls is under the MIT licence. Its binaries have parts of the following, each under its own.\n\n")
	for _, c := range all {
		fmt.Fprintf(&s, "  %s %s: %s", c.name, c.version, c.licence)
		if c.of != "" {
			fmt.Fprintf(&s, " (only %s)", c.of)
		}
		s.WriteString("\n")
	}
	if slices.ContainsFunc(all, func(c component) bool { return strings.HasPrefix(c.licence, "LGPL") }) {
		s.WriteString("\nYou may link the binaries with another version of a part under the LGPL: the sources, and how to build them, are at\nhttps://github.com/sidecar-ls/sidecar-ls.\n")
	}
	for _, c := range all {
		fmt.Fprintf(&s, "\n%s\n%s %s\n%s\n\n%s\n", strings.Repeat("=", 78), c.name, c.version, strings.Repeat("=", 78), strings.TrimSpace(c.text))
	}
	return []byte(s.String())
}
