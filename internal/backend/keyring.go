package backend

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// service is what keys are kept under in a keyring; the account is the profile's name.
const service = "sidecar-ls"

// maxKeyring bounds the wait for a keyring: a locked one may ask a person who is not
// there.
const maxKeyring = 5 * time.Second

// ring is how a system's keyring is asked: a program that prints the secret.
type ring struct {
	program string
	lookup  func(account string) []string
	store   func(account string) string // the command with which a person stores a key
	missing string                      // what to do when the program is not there
}

// ringOf is the ring of a system; ok is false when none is known.
func ringOf(system string) (r ring, ok bool) {
	switch system {
	case "darwin":
		return ring{
			"security", func(account string) []string {
				return []string{"find-generic-password", "-s", service, "-a", account, "-w"}
			},
			func(account string) string {
				return fmt.Sprintf("security add-generic-password -s %s -a %q -w", service, account)
			},
			"it is part of macOS: look at PATH",
		}, true
	case "windows":
		return ring{}, false
	}
	return ring{
		"secret-tool", func(account string) []string { return []string{"lookup", "service", service, "account", account} },
		func(account string) string {
			return fmt.Sprintf("secret-tool store --label=%q service %s account %q", service, service, account)
		},
		"install it (its package is libsecret-tools or libsecret)",
	}, true
}

func fromKeyring(account string) (string, error) {
	r, ok := ringOf(runtime.GOOS)
	if !ok {
		return "", errors.New("keyring works on Linux and macOS alone: use keyFile")
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxKeyring)
	defer cancel()
	return r.ask(ctx, account)
}

// ask runs the program. What that says on the side is left out of errors: nobody knows
// what is in it.
func (r ring) ask(ctx context.Context, account string) (string, error) {
	path, err := exec.LookPath(r.program)
	if err != nil {
		return "", fmt.Errorf("%s, which asks the keyring, is not there: %s, or use keyFile", r.program, r.missing)
	}
	cmd := exec.CommandContext(ctx, path, r.lookup(account)...)
	cmd.WaitDelay = time.Second // who holds on to its output does not hold us
	endTogether(cmd)
	out, err := cmd.Output()
	key := strings.TrimSuffix(strings.TrimSuffix(string(out), "\n"), "\r")
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s gave no answer for %v: unlock the keyring, or use keyFile", r.program, maxKeyring)
	case err != nil, key == "":
		state := "no answer"
		if err != nil {
			state = err.Error()
		}
		return "", fmt.Errorf("%s has no secret of the account %q (%s): unlock the keyring, or store the key with %s", r.program, account, state, r.store(account))
	}
	return key, nil
}
