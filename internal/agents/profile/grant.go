package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Kept is the directory of what is kept of agents: what people have allowed them,
// and their homes.
type Kept string

// UserKept is that of the user.
func UserKept() (Kept, error) {
	dir, err := userdirs.Here().Dir(userdirs.State)
	return Kept(filepath.Join(dir, "agents")), err
}

func (k Kept) file() string { return filepath.Join(string(k), "allowed.json") }

// allowed is by profile what was allowed: what can't be read is asked again.
func (k Kept) allowed() map[string]string {
	allowed := map[string]string{}
	if data, err := os.ReadFile(k.file()); err == nil {
		_ = json.Unmarshal(data, &allowed)
	}
	return allowed
}

// Allowed reports whether a person has allowed all that the profile gives.
func (k Kept) Allowed(p Profile) bool { return k.allowed()[p.key()] == p.sum() }

// Allow keeps that a person has allowed it.
func (k Kept) Allow(p Profile) error {
	now := maps.Clone(k.allowed())
	now[p.key()] = p.sum()
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(string(k), 0o700), os.WriteFile(k.file(), data, 0o600))
}

// key is what the word of a person is kept under: each program has its own.
func (p Profile) key() string { return strings.TrimSpace(p.Name + " " + p.Path) }

// sum is that of what is allowed: another program or more to see is asked again.
func (p Profile) sum() string {
	p.Install = "" // what was allowed stays so once it is installed
	sum := sha256.Sum256([]byte(p.Program + "\n" + p.Path + "\n" + p.text + "\n" + strings.Join(p.Sees(), "\n  ")))
	return hex.EncodeToString(sum[:])
}

// Grant is what a program gets of the user's.
type Grant struct {
	Writable []string // directories
	Readable []string // directories and files
	Home     string   // its own

	user string
	keys []string
}

// Grant makes ready what the profile gives its program, which begins in one of these
// folders. It fails when the program would not find its state. Return is to be called
// when the program has ended.
func (k Kept) Grant(p Profile, folders ...string) (Grant, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Home: filepath.Join(string(k), p.Name, "home"), user: user, keys: p.Keys}
	for i, dir := range folders {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			folders[i] = real // so it calls where it is
		}
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	state := inFolders(user, p.State, folders)
	for _, rel := range state {
		dir := filepath.Join(user, rel)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Grant{}, err
		}
		if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
			return Grant{}, fmt.Errorf("~/%s leads over a link to %s, where the program would not find it: name that directory as state in the setting agents", rel, real)
		}
		g.Writable = append(g.Writable, dir)
	}
	if err := os.MkdirAll(g.Home, 0o700); err != nil {
		return Grant{}, err
	}
	own, err := openHome(g.Home)
	if err != nil {
		return Grant{}, err
	}
	defer own.Close()
	for _, rel := range inFolders(user, p.Reads, folders) {
		path := filepath.Join(user, rel)
		if slices.ContainsFunc(state, func(dir string) bool { return strings.HasPrefix(rel, dir+"/") }) {
			if err := os.MkdirAll(path, 0o700); err != nil { // or the program would make it
				return Grant{}, err
			}
		}
		readable, err := own.show(rel, path)
		if err != nil {
			return Grant{}, err
		}
		g.Readable = append(g.Readable, readable...)
	}
	for _, rel := range p.Settings {
		if err := own.again(filepath.Join(user, rel), rel); err != nil {
			return Grant{}, err
		}
	}
	for _, rel := range p.Copied {
		if err := own.refresh(filepath.Join(user, rel), rel); err != nil {
			return Grant{}, err
		}
	}
	return g, g.Return()
}

// Return gives the user what the program refreshed of its keys, and the program what was
// refreshed elsewhere: the newer one counts.
func (g Grant) Return() error {
	own, err := openHome(g.Home)
	if err != nil {
		return err
	}
	defer own.Close()
	var errs []error
	for _, rel := range g.keys {
		errs = append(errs, own.keys(filepath.Join(g.user, rel), rel))
	}
	return errors.Join(errs...)
}
