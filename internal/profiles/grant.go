package profiles

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/userdirs"
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
func (k Kept) Allowed(p Profile) bool { return k.allowed()[p.Name] == p.sum() }

// Allow keeps that a person has allowed it.
func (k Kept) Allow(p Profile) error {
	now := maps.Clone(k.allowed())
	now[p.Name] = p.sum()
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(string(k), 0o700), os.WriteFile(k.file(), data, 0o600))
}

// sum is that of what is allowed: another program or more to see is asked again.
func (p Profile) sum() string {
	sum := sha256.Sum256([]byte(p.Program + "\n" + strings.Join(p.Sees(), "\n  ")))
	return hex.EncodeToString(sum[:])
}

// Grant is what a program gets of the user's.
type Grant struct {
	Writable []string // directories
	Home     string   // its own
}

// Grant makes ready what the profile gives its program. It fails when the program
// would not find its state.
func (k Kept) Grant(p Profile) (Grant, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Home: filepath.Join(string(k), p.Name, "home")}
	for _, rel := range p.State {
		dir := filepath.Join(home, rel)
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
	for _, rel := range p.Copied {
		if err := refresh(filepath.Join(home, rel), filepath.Join(g.Home, rel)); err != nil {
			return Grant{}, err
		}
	}
	return g, nil
}

// maxCopied bounds a file that a program gets a copy of, in bytes.
const maxCopied = 64 << 20

// refresh copies a file to where there is no copy, or an older one.
func refresh(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if have, err := os.Stat(to); err == nil && !info.ModTime().After(have.ModTime()) {
		return nil
	}
	if !info.Mode().IsRegular() || info.Size() > maxCopied {
		return fmt.Errorf("%s is no file of at most %d MiB, of which the program could have a copy", from, maxCopied>>20)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600))
}
