package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"go.yaml.in/yaml/v4"
)

// scratch is a directory of the test's own, by its path and as what no link leads out of.
func scratch(t *testing.T) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, root
}

func TestNamed(t *testing.T) {
	all, err := named(nil)
	if err != nil || len(all) != 6 {
		t.Errorf("%d targets, %v", len(all), err)
	}
	some, err := named([]string{"windows-arm64", "linux-amd64"})
	if err != nil || len(some) != 2 || some[0].vscode[0] != "win32-arm64" || some[1].program() != "sidecar-ls" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := named([]string{"plan9-amd64"}); err == nil || !strings.Contains(err.Error(), "linux-amd64") {
		t.Errorf("an unknown target: %v", err)
	}
}

func TestVersions(t *testing.T) {
	for version, good := range map[string]bool{"1.2.0": true, "1.2.0-rc.1": true, "10.0.0": true, "1.2": false, "01.2.0": false, "1.2.0+x": false, "one": false, "1.2.0 ": false, "1.2.0-": false} {
		if versions.MatchString(version) != good {
			t.Errorf("%q is a version: %v", version, !good)
		}
	}
}

// TestPack: an archive has what was put in, under one directory, and is the same each time.
func TestPack(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	files := []file{{"sidecar-ls", 0o755, []byte("program")}, {"LICENSE", 0o644, []byte("text")}}
	for _, as := range targets {
		first, err := pack(as, "dir", at, files)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := pack(as, "dir", at, files); !bytes.Equal(first, second) {
			t.Errorf("%s: two archives differ", as)
		}
		if other, _ := pack(as, "dir", at.Add(time.Hour), files); bytes.Equal(first, other) {
			t.Errorf("%s: the time is not in it", as)
		}
		got := unpacked(t, as, first)
		if got["dir/sidecar-ls"] != "0755 program" || got["dir/LICENSE"] != "0644 text" || len(got) != 2 {
			t.Errorf("%s: %v", as, got)
		}
	}
}

func unpacked(t *testing.T, as target, data []byte) map[string]string {
	t.Helper()
	got := map[string]string{}
	put := func(name string, mode os.FileMode, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = fmt.Sprintf("%04o %s", mode.Perm(), text)
	}
	if as.archive() == ".zip" {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			put(f.Name, f.Mode(), r)
		}
		return got
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		put(h.Name, h.FileInfo().Mode(), r)
	}
}

func TestReleaseNotes(t *testing.T) {
	dir, own := scratch(t)
	name := filepath.Join(dir, "CHANGELOG.md")
	text := "# Changelog\n\n## Unreleased\n\nNew.\n\n## 1.10.0 (2026-11-01)\n\n### Added\n- ten\n\n## 1.1.0\n\n- one\n"
	if err := own.WriteFile("CHANGELOG.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{"1.10.0": "### Added\n- ten\n", "1.1.0": "- one\n", "2.0.0": "New.\n"} {
		if got, err := releaseNotes(name, version); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	if err := own.WriteFile("CHANGELOG.md", []byte("# Changelog\n\n## 1.1.0\n\n- one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := releaseNotes(name, "2.0.0"); err == nil {
		t.Error("a version of which nothing is said is released")
	}
}

// TestManifests: what package managers read is well formed, and names each archive with
// its checksum.
func TestManifests(t *testing.T) {
	p := published{Version: "1.2.0", Day: "2026-11-27", sums: map[string]string{}}
	for _, each := range targets {
		p.sums[each.String()] = sum([]byte(each.String()))
	}
	all := ""
	for _, name := range manifests {
		text, err := render(name, p)
		if err != nil {
			t.Fatal(err)
		}
		all += strings.ToLower(string(text))
		var into map[string]any
		switch filepath.Ext(name) {
		case ".json":
			err = json.Unmarshal(text, &into)
		case ".yaml":
			err = yaml.Unmarshal(text, &into)
			if winget := strings.HasPrefix(name, "SidecarLS."); winget && (into["PackageVersion"] != "1.2.0" || into["ManifestVersion"] == nil) {
				t.Errorf("%s: %v", name, into)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, each := range targets {
		url, err := p.URL(each.String())
		if err != nil || !strings.Contains(all, strings.ToLower(url)) || !strings.Contains(all, p.sums[each.String()]) {
			t.Errorf("%s is in no manifest: %s, %v", each, url, err)
		}
	}
	mason, err := render("mason-package.yaml", p)
	if err != nil || strings.Count(string(mason), "target: ") != len(targets) || !strings.Contains(string(mason), `bin: sidecar-ls-{{version | strip_prefix "v"}}-windows-arm64/sidecar-ls.exe`) {
		t.Errorf("%v\n%s", err, mason)
	}
	delete(p.sums, "darwin-arm64")
	if _, err := render("sidecar-ls.rb", p); err == nil || !strings.Contains(err.Error(), "darwin-arm64") {
		t.Errorf("an archive that is missing: %v", err)
	}
}

func TestPackagesConfig(t *testing.T) {
	text, err := render("nfpm.yaml", map[string]any{"Arch": "arm64", "Version": "1.2.0-rc.1", "Date": "2026-11-27T12:00:00Z", "Changelog": "/d", "Files": []installed{{"/a b/x", "/usr/bin/x", 0o755, "", ""}, {"/c", "/usr/share/c", 0o644, "rpm", "doc"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version  string
		Contents []struct {
			Src, Dst, Packager, Type string
			Info                     struct{ Mode int } `yaml:"file_info"`
		}
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "1.2.0-rc.1" || len(got.Contents) != 2 || got.Contents[0].Src != "/a b/x" || got.Contents[0].Packager+got.Contents[0].Type != "" || got.Contents[1].Packager != "rpm" || got.Contents[1].Type != "doc" || !strings.Contains(string(text), "mode: 0755") {
		t.Errorf("%s", text)
	}
}

func TestCompressed(t *testing.T) {
	dir, own := scratch(t)
	name := filepath.Join(dir, "changes")
	want := bytes.Repeat([]byte("what is new\n"), 10000)
	if err := own.WriteFile("changes", want, 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := compressed(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
	}
}

func TestStub(t *testing.T) {
	for library, want := range map[string]string{
		"/usr/lib/libresolv.9.dylib":                                        "libresolv.tbd",
		"/System/Library/Frameworks/Security.framework/Versions/A/Security": "Security.framework/Security.tbd",
	} {
		if got := stubFile(library); got != want {
			t.Errorf("%s is looked for as %s", library, got)
		}
	}
	var got struct {
		Name    string `yaml:"install-name"`
		Exports []struct{ Symbols []string }
	}
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(stub("/usr/lib/libx.dylib", []string{"one", "two"}), "--- !tapi-tbd\n")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "/usr/lib/libx.dylib" || len(got.Exports) != 1 || strings.Join(got.Exports[0].Symbols, " ") != "_one _two" {
		t.Errorf("%+v", got)
	}
	if symbols, err := appleSymbols(t.Context(), "../..", targets[3]); err != nil || len(symbols["/usr/lib/libresolv.9.dylib"]) == 0 || len(symbols) < 3 || symbols[systemLibrary] != nil {
		t.Errorf("Go's own sources: %v, %v", symbols, err)
	}
}

// TestComponents: a licence that nobody knows stops a release, and what there is is told.
func TestComponents(t *testing.T) {
	dir, own := scratch(t)
	name := filepath.Join(dir, "LICENSE")
	if err := own.WriteFile("LICENSE", []byte("Do what you want.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"Unknown", name}, {"", name}, {"MIT", ""}, {"MIT", "Unknown"}, {"MIT", name + "-absent"}} {
		if _, err := module("example.org/m", "v1.0.0", c[0], c[1]); err == nil {
			t.Errorf("licence %q, file %q: no error", c[0], c[1])
		}
	}
	c, err := module("example.org/m", "v1.0.0", "MIT", name)
	if err != nil {
		t.Fatal(err)
	}
	all := []component{c, {name: "C library", version: "2", licence: "LGPL-2.1-or-later", text: "Long.", of: "linux-arm64"}}
	text := string(notices(all))
	for _, want := range []string{"example.org/m v1.0.0: MIT", "Do what you want.", "only linux-arm64", "another version of a part under the LGPL"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(string(notices(all[:1])), "LGPL") {
		t.Error("the LGPL is named where nothing is under it")
	}
	b := &build{version: "1.2.0", commit: "0123456789abcdef", date: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)}
	bill, err := b.sbom(all)
	if err != nil {
		t.Fatal(err)
	}
	var doc spdx.Document
	if err := json.Unmarshal(bill, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Packages) != 3 || len(doc.Relationships) != 3 || doc.Packages[1].PackageExternalReferences[0].Locator != "pkg:golang/example.org/m@v1.0.0" || doc.Relationships[0].RefB != common.MakeDocElementID("", "sidecar-ls") {
		t.Errorf("%s", bill)
	}
	if again, _ := b.sbom(all); !bytes.Equal(bill, again) {
		t.Error("two bills differ")
	}
}

// TestClear: files of another release go, binaries stay.
func TestClear(t *testing.T) {
	dir, own := scratch(t)
	b := &build{out: dir}
	const binary = "linux-amd64/sidecar-ls"
	if err := own.Mkdir("linux-amd64", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{binary, "sidecar-ls-0.9.0-linux-amd64.tar.gz"} {
		if err := own.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.clear(); err != nil {
		t.Fatal(err)
	}
	if err := b.write("new", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := b.sums(); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(b.out, sumsName))
	if err != nil || string(sums) != sum([]byte("x"))+"  new\n" {
		t.Errorf("%s, %v", sums, err)
	}
	if _, err := own.Stat(binary); err != nil {
		t.Error(err)
	}
}
