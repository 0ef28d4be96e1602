//go:build unix

package models

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/keyring"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestKeyring: the program is asked for the profile's secret, without a shell.
func TestKeyring(t *testing.T) {
	const name = `it's "$(touch x)" ; mine`
	dir := played(t, `for a; do printf '%s\n' "$a"; done >"${0%/*}/asked"; printf 'the-key\n'`)
	if key, err := keyring.Get(anywhere.Programs(), service, name); key != "the-key" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	want := []string{"lookup", "service", "sidecar-ls", "account", name}
	if runtime.GOOS == "darwin" {
		want = []string{"find-generic-password", "-s", "sidecar-ls", "-a", name, "-w"}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "asked")); strings.TrimSuffix(string(got), "\n") != strings.Join(want, "\n") {
		t.Errorf("asked with %q, %v", got, err)
	}
	for system, program := range map[string]string{"linux": "secret-tool", "darwin": "security", "windows": ""} {
		r, ok := keyring.Of(system)
		if r.Program != program || ok != (program != "") || ok && !strings.Contains(r.Words(service, "mine"), `"mine"`) {
			t.Errorf("%s: %+v", system, r)
		}
	}
}

// TestKeyringFails: without a key, the error says what to do, and nothing of what the
// program said.
func TestKeyringFails(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		says   []string
	}{
		"missing":       {"", []string{"is not there", "keyFile"}},
		"failing":       {`echo half-of-a-key >&2; printf half-of-a-key; exit 3`, []string{`no secret of the account "mine"`, "exit status 3", "store the key with"}},
		"empty":         {`exit 0`, []string{`no secret of the account "mine"`, "no answer"}},
		"only a break":  {`echo`, []string{"no answer"}},
		"not to be run": {"#", []string{"is not there"}},
		"two lines":     {`printf 'half-of-a-key\nother'`, []string{"line break"}},
	} {
		dir := played(t, c.script)
		if name == "not to be run" {
			r, _ := keyring.Of(runtime.GOOS)
			if err := ownfile.Chmod(filepath.Join(dir, r.Program), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b, _ := profiles(t, `"url":"https://x","model":"m","keyring":true`)
		m, _, err := b.Model("mine")
		if m != nil || err == nil || tools.AsError(err).Code != tools.Unavailable || strings.Contains(err.Error(), "half-of-a-key") {
			t.Errorf("%s: %v, %v", name, m, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", name, err, says)
			}
		}
	}
}

// TestKeyringHangs: a program that does not answer is ended with what it has started.
func TestKeyringHangs(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		needs.Skip(t, needs.Keyring, err)
	}
	dir := played(t, `exec 3>"${0%/*}/alive"; (echo begun >&3; exec `+sleep+` 1000) & wait`)
	alive := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		needs.Skip(t, needs.Keyring, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		f, err := os.Open(alive)
		if err == nil {
			defer f.Close()
			_, err = f.Read(make([]byte, 10))
		}
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, f) // until nobody holds it any more
		}
		gone <- err
	}()
	r, _ := keyring.Of(runtime.GOOS)
	key, err := r.Taking(anywhere.Programs()).Get(ctx, service, "mine")
	if key != "" || err == nil || !strings.Contains(err.Error(), "unlock the keyring") {
		t.Errorf("%q, %v", key, err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}
