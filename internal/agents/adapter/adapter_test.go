package adapter

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestTable: each row says what its lock file holds.
func TestTable(t *testing.T) {
	for program, a := range table {
		data, err := fs.ReadFile(a.files, "package-lock.json")
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct {
				Version, Integrity, Resolved string
				Dependencies, Bin            map[string]string
			}
		}
		if err := json.Unmarshal(data, &lock); err != nil {
			t.Fatal(err)
		}
		if p := lock.Packages["node_modules/"+a.Package]; p.Version != a.Version || p.Integrity != a.Integrity || program != a.Program || p.Bin[program] == "" || lock.Packages[""].Dependencies[a.Package] != a.Version {
			t.Errorf("%s: %+v", a.Program, p)
		}
		for name, p := range lock.Packages {
			if name != "" && (!strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "") {
				t.Errorf("%s: %s is not held to what was tried: %+v", a.Program, name, p)
			}
		}
	}
}

// TestInstall: npm installs the version of the table, checks it, and runs nothing of it.
func TestInstall(t *testing.T) {
	npm, err := exec.LookPath("npm") // the machine's own, which the test starts by this path
	if err != nil {
		needs.Skip(t, needs.Programs, err.Error())
	}
	packed := pack(t, map[string]string{
		"package.json": `{"name": "driver", "version": "1.2.3", "bin": {"driver": "run.js"}, "scripts": {"install": "touch ran", "preinstall": "touch ran", "postinstall": "touch ran"}}`,
		"run.js":       "#!/usr/bin/env node\n",
	})
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".tgz"):
			_, _ = w.Write(packed)
		case r.URL.Path == "/driver":
			fmt.Fprintf(w, `{"name": "driver", "dist-tags": {"latest": "1.2.3"}, "versions": {"1.2.3": {"name": "driver", "version": "1.2.3", "dist": {"tarball": "http://%s/driver/-/driver-1.2.3.tgz"}}}}`, r.Host)
		default:
			http.NotFound(w, r)
		}
	}))
	defer registry.Close()
	sum := sha512.Sum512(packed)
	right := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	env := append(os.Environ(), "HOME="+t.TempDir(), "npm_config_cache="+t.TempDir(), "npm_config_registry="+registry.URL, "npm_config_userconfig="+filepath.Join(t.TempDir(), "none"), "npm_config_fetch_retries=0")
	row := func(integrity string) *adapter {
		a := &adapter{Program: "driver", Package: "driver", Version: "1.2.3", Integrity: integrity, files: fstest.MapFS{
			"package.json":      {Data: []byte(`{"name": "x", "dependencies": {"driver": "1.2.3"}}`)},
			"package-lock.json": {Data: fmt.Appendf(nil, `{"name": "x", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "x", "dependencies": {"driver": "1.2.3"}}, "node_modules/driver": {"version": "1.2.3", "integrity": %q, "hasInstallScript": true, "bin": {"driver": "run.js"}}}}`, integrity)},
		}}
		return a
	}
	left := func(data string) (names []string) {
		entries, _ := os.ReadDir(filepath.Join(data, "adapters"))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}

	data := t.TempDir()
	a := row(right)
	if a.installed(data) {
		t.Fatal("it is there before it was installed")
	}
	for range 2 { // the second finds it
		if err := a.install(t.Context(), npm, env, data); err != nil {
			t.Fatal(err)
		}
	}
	if !a.installed(data) || len(left(data)) != 1 {
		t.Errorf("there is %q", left(data))
	}
	_ = filepath.WalkDir(data, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Base(path) == "ran" {
			t.Errorf("a script ran: %s", path)
		}
		return nil
	})

	other := sha512.Sum512([]byte("another"))
	for what, try := range map[string]func(data string) error{
		"another text": func(data string) error {
			return row("sha512-"+base64.StdEncoding.EncodeToString(other[:])).install(t.Context(), npm, env, data)
		},
		"no registry": func(data string) error {
			return row(right).install(t.Context(), npm, append(env, "npm_config_registry=http://127.0.0.1:1", "npm_config_cache="+t.TempDir()), data)
		},
		"given up": func(data string) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return row(right).install(ctx, npm, env, data)
		},
	} {
		data := t.TempDir()
		if err := try(data); err == nil || !strings.Contains(err.Error(), "npm install --global driver@1.2.3") || len(left(data)) > 0 {
			t.Errorf("%s: %v, and %q is left", what, err, left(data))
		}
	}

	// A file in the place of the directory is an error, and stays.
	data = t.TempDir()
	if err := ownfile.WriteFile(filepath.Join(data, "adapters"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := row(right).install(t.Context(), npm, env, data); err == nil {
		t.Error("it is installed below a file")
	}
}

// pack is a package as a registry has it.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
