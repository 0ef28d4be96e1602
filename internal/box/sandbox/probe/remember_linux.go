package probe

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
	CacheName = "sandbox.json"
	worksName = "overlay.json"
)

// Cached is what is in such a file.
type Cached[T any] struct {
	Key    string
	Status T
}

// CacheKey changes with all that may change what was found out.
func (p *Prober) CacheKey() string {
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
	for _, name := range []string{p.Self, p.Machine.Bwrap} {
		if info, err := os.Stat(name); err == nil {
			parts = append(parts, fmt.Sprint(name, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return strings.Join(append(parts, fmt.Sprint(p.Machine.Landlock, p.Machine.Home)), "\n")
}

// recall is what a file remembers, when it holds still.
func recall[T any](p *Prober, name string) (what T, ok bool) {
	if p.CacheDir == "" {
		return what, false
	}
	data, err := os.ReadFile(filepath.Join(p.CacheDir, name))
	var c Cached[T]
	if err != nil || json.Unmarshal(data, &c) != nil || c.Key != p.CacheKey() {
		return what, false
	}
	return c.Status, true
}

// remember is worth no error: what is not remembered is found out again.
func remember[T any](p *Prober, name string, what T) {
	if p.CacheDir == "" {
		return
	}
	data, err := json.Marshal(Cached[T]{p.CacheKey(), what})
	if err != nil || os.MkdirAll(p.CacheDir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(p.CacheDir, name+".*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(p.CacheDir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// Works reports whether something was seen to work here before; see Worked.
func (p *Prober) Works(what string) bool {
	known, ok := recall[string](p, worksName)
	return ok && known == what
}

// Worked says that something works here, so that the next process need not try it;
// "" is that nothing does.
func (p *Prober) Worked(what string) { remember(p, worksName, what) }
