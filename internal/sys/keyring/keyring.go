// Package keyring asks the system's keyring, by the program that systems have for that.
package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// MaxTime bounds the wait for a keyring: a locked one may ask a person who is not there.
const MaxTime = 5 * time.Second

// Ring is how a system's keyring is asked. Secrets are on the program's standard streams,
// never among its arguments.
type Ring struct {
	Program string

	programs *lookup.Finder
	lookup   func(service, account string) []string
	store    func(service, account string) []string // reads the secret; nil: a person has to
	clear    func(service, account string) []string
	words    func(service, account string) string // the command with which a person stores a secret
	missing  string                               // what to do when the program is not there
}

// Of is the ring of a system; ok is false when none is known.
func Of(system string) (r Ring, ok bool) {
	switch system {
	case "darwin":
		return Ring{
			Program: "security",
			lookup: func(service, account string) []string {
				return []string{"find-generic-password", "-s", service, "-a", account, "-w"}
			},
			words: func(service, account string) string {
				return fmt.Sprintf("security add-generic-password -s %s -a %q -w", service, account)
			},
			missing: "it is part of macOS: look at PATH",
		}, true
	case "windows":
		return Ring{}, false
	}
	of := func(verb string) func(service, account string) []string {
		return func(service, account string) []string {
			return []string{verb, "service", service, "account", account}
		}
	}
	return Ring{
		Program: "secret-tool", lookup: of("lookup"), clear: of("clear"),
		store: func(service, account string) []string {
			return append([]string{"store", "--label=" + service + ": " + account}, of("")(service, account)[1:]...)
		},
		words: func(service, account string) string {
			return fmt.Sprintf("secret-tool store --label=%q service %s account %q", service, service, account)
		},
		missing: "install it (its package is libsecret-tools or libsecret)",
	}, true
}

// Taking is the ring with a program that such a Finder finds.
func (r Ring) Taking(programs *lookup.Finder) Ring {
	r.programs = programs
	return r
}

// here is the ring of this system.
func here(programs *lookup.Finder) (Ring, context.Context, context.CancelFunc, error) {
	r, ok := Of(runtime.GOOS)
	if !ok {
		return r, nil, nil, errors.New("keyring works on Linux and macOS alone: use keyFile")
	}
	ctx, cancel := context.WithTimeout(context.Background(), MaxTime)
	return r.Taking(programs), ctx, cancel, nil
}

// Get returns the secret of an account of a service.
func Get(programs *lookup.Finder, service, account string) (string, error) {
	r, ctx, cancel, err := here(programs)
	if err != nil {
		return "", err
	}
	defer cancel()
	return r.Get(ctx, service, account)
}

// Set keeps a secret, where the program takes it on its standard input.
func Set(programs *lookup.Finder, service, account, secret string) error {
	r, ctx, cancel, err := here(programs)
	if err != nil {
		return err
	}
	defer cancel()
	if r.store == nil {
		return fmt.Errorf("%s takes secrets among its arguments alone, where others can read them", r.Program)
	}
	_, err = r.run(ctx, secret, r.store(service, account))
	return err
}

// Clear forgets a secret.
func Clear(programs *lookup.Finder, service, account string) error {
	r, ctx, cancel, err := here(programs)
	if err != nil {
		return err
	}
	defer cancel()
	if r.clear == nil {
		return nil // nothing was kept
	}
	_, err = r.run(ctx, "", r.clear(service, account))
	return err
}

// Words are the command with which a person stores a secret.
func (r Ring) Words(service, account string) string { return r.words(service, account) }

// Get is Get, until ctx ends.
func (r Ring) Get(ctx context.Context, service, account string) (string, error) {
	out, err := r.run(ctx, "", r.lookup(service, account))
	key := strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r")
	var failed *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &failed):
		return "", err
	case err != nil, key == "":
		state := "no answer"
		if err != nil {
			state = failed.Error()
		}
		return "", fmt.Errorf("%s has no secret of the account %q (%s): unlock the keyring, or store the key with %s", r.Program, account, state, r.words(service, account))
	}
	return key, nil
}

// run runs the program. What that says on the side is left out of errors: nobody knows
// what is in it.
func (r Ring) run(ctx context.Context, in string, args []string) (string, error) {
	path, err := r.programs.Find(r.Program)
	var found *lookup.Error
	if errors.As(err, &found) && len(found.Passed) > 0 {
		return "", fmt.Errorf("the keyring is not asked: %w, or use keyFile", err)
	}
	if err != nil {
		return "", fmt.Errorf("%s, which asks the keyring, is not there: %s, or use keyFile", r.Program, r.missing)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = r.programs.Environ(), filepath.Dir(path)
	cmd.WaitDelay = time.Second // who holds on to its output does not hold us
	cmd.Stdin = strings.NewReader(in)
	var out bytes.Buffer
	cmd.Stdout = &out
	err = proctree.Run(cmd)
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s gave no answer for %v: unlock the keyring, or use keyFile", r.Program, MaxTime)
	}
	return out.String(), err
}
