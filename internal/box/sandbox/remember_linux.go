package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What was found out by trying is kept until the machine, this program or bwrap
// is another one. Nothing depends on its truth: what can't be set up runs nothing.

// The files in which it is kept.
const (
	cacheName = "sandbox.json"
	worksName = "overlay.json"
)

// cached is what is in such a file.
type cached[T any] struct {
	Key    string
	Status T
}

// Works reports whether something was seen to work here before; see Worked.
func (s *Sandbox) Works(what string) bool {
	s.Status() // finds the programs that the key is made of
	known, ok := recall[string](s, worksName)
	return ok && known == what
}

// Worked says that something works here, so that the next process need not try it;
// "" is that nothing does.
func (s *Sandbox) Worked(what string) { remember(s, worksName, what) }

// cacheKey changes with all that may change what was found out.
func (s *Sandbox) cacheKey() string {
	var parts []string
	for _, name := range []string{"/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"} {
		data, _ := os.ReadFile(name)
		parts = append(parts, strings.TrimSpace(string(data)))
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if name, _, _ := strings.Cut(line, ":"); slices.Contains([]string{"Uid", "CapEff", "NoNewPrivs", "Seccomp", "Seccomp_filters"}, name) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	for _, name := range []string{s.self, s.tools.Bwrap} {
		if info, err := os.Stat(name); err == nil {
			parts = append(parts, fmt.Sprint(name, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return strings.Join(append(parts, fmt.Sprint(s.tools.Landlock, s.tools.Home)), "\n")
}

// recall is what a file remembers, when it holds still.
func recall[T any](s *Sandbox, name string) (what T, ok bool) {
	if s.opts.CacheDir == "" {
		return what, false
	}
	data, err := os.ReadFile(filepath.Join(s.opts.CacheDir, name))
	var c cached[T]
	if err != nil || json.Unmarshal(data, &c) != nil || c.Key != s.cacheKey() {
		return what, false
	}
	return c.Status, true
}

// remember is worth no error: what is not remembered is found out again.
func remember[T any](s *Sandbox, name string, what T) {
	if s.opts.CacheDir == "" {
		return
	}
	data, err := json.Marshal(cached[T]{s.cacheKey(), what})
	if err != nil || os.MkdirAll(s.opts.CacheDir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(s.opts.CacheDir, name+".*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.opts.CacheDir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
