//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestInstall: the script takes the archive for this machine, checks it, and leaves what
// was there when something is wrong.
func TestInstall(t *testing.T) {
	for _, program := range []string{"curl", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	here := runtime.GOOS + "-" + runtime.GOARCH
	some, err := named([]string{here})
	if err != nil {
		t.Skip(err)
	}
	release, published := scratch(t)
	put := func(version string) (archive string) {
		t.Helper()
		dir := archiveDir(version, here)
		data, err := pack(some[0], dir, time.Unix(0, 0), []file{{"sidecar-ls", 0o755, []byte("#!/bin/sh\necho sidecar-ls " + version + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		sums := fmt.Sprintf("%s  %s.tar.gz\n%s  sidecar-ls-%s-plan9-amd64.tar.gz\n", sum(data), dir, sum(nil), version)
		for name, text := range map[string]string{dir + ".tar.gz": string(data), sumsName: sums} {
			if err := published.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir + ".tar.gz"
	}
	served := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer served.Close()
	homes, own := scratch(t)
	home := filepath.Join(homes, "Jörg Müller "+strings.Repeat("x", 180))
	if err := own.Mkdir(filepath.Base(home), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(home, ".local/bin/sidecar-ls")
	install := func(env ...string) (string, error) {
		cmd := exec.Command("sh", "templates/install.sh")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SIDECAR_RELEASE=" + served.URL}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	put("1.0.0")
	if out, err := install(); err != nil || !strings.Contains(out, "sidecar-ls 1.0.0") || !strings.Contains(out, ".local/bin is not in PATH") {
		t.Fatal(out, err)
	}
	archive := put("1.1.0")
	if out, err := install("PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")); err != nil || !strings.Contains(out, "sidecar-ls 1.1.0") || strings.Contains(out, "not in PATH") {
		t.Fatal(out, err)
	}
	if out, err := install("SIDECAR_RELEASE=file://"+release, "SIDECAR_BIN="+filepath.Join(t.TempDir(), "new", "bin")); err != nil {
		t.Error("without a network:", out, err)
	}

	file := filepath.Join(homes, "file")
	if err := own.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, env, says string }{
		{"no home", "HOME=", "SIDECAR_BIN"},
		{"no directory to write to", "SIDECAR_BIN=" + file + "/bin", "can't be written"},
		{"nothing there", "SIDECAR_RELEASE=" + served.URL + "/none", "can't be read"},
	} {
		if out, err := install(c.env); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, %s", c.name, err, out)
		}
	}
	if err := published.WriteFile(archive, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := install(); err == nil || !strings.Contains(out, "not what its checksum says") {
		t.Error(out, err)
	}
	if err := published.WriteFile(sumsName, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := install(); err == nil || !strings.Contains(out, "no archive for "+here) {
		t.Error(out, err)
	}
	if out, err := exec.Command(program).Output(); err != nil || string(out) != "sidecar-ls 1.1.0\n" {
		t.Errorf("what was there is gone: %q, %v", out, err)
	}
}
