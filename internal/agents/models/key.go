package models

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/keyring"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// service is what keys are kept under in a keyring; the account is the profile's name.
const service = "sidecar-ls"

// key is the key of a profile, or "" for one that needs none. It is looked for each
// time, so that a changed one is used at once. An error says what is missing and what to
// do, and has nothing of a key.
func (b Backends) key(p config.Backend) (string, error) {
	k, err := b.find(p)
	switch {
	case err != nil:
		return "", tools.Errorf(tools.Unavailable, "%s has no key: %v", p.Name, err)
	case k == "" && p.KeyEnv != "":
		return "", tools.Errorf(tools.Unavailable, "%s has no key: the user must set %s in the server's environment, or keyFile, keyring or key in backend.profiles", p.Name, p.KeyEnv)
	case k == "" && p.Provider == "anthropic":
		return "", tools.Errorf(tools.Unavailable, "%s has no key: the user must set keyEnv, keyFile, keyring or key in backend.profiles", p.Name)
	case k != "" && !safeForKey(p.URL):
		return "", tools.Errorf(tools.Unavailable, "%s would get its key over a connection that others can read; its url must begin with https://", p.Name)
	case strings.ContainsFunc(k, breaks):
		return "", tools.Errorf(tools.Unavailable, "the key of %s has a line break in it; the user must store the key alone", p.Name)
	}
	return k, nil
}

// find looks where the profile says, in the order that its members have.
func (b Backends) find(p config.Backend) (k string, err error) {
	if p.KeyEnv != "" {
		k = os.Getenv(p.KeyEnv)
	}
	if k == "" {
		k = p.Key
	}
	if k != "" {
		return k, nil // the settings have said that it is a secret
	}
	if k, err = p.ReadKeyFile(); err == nil && k == "" && p.Keyring {
		k, err = keyring.Get(b.Programs, service, p.Name)
	}
	if k != "" && b.Know != nil {
		b.Know("key of "+p.Name, strings.FieldsFunc(k, breaks)) // its lines, should it have several
	}
	return k, err
}

// breaks reports what no header may have in it.
func breaks(r rune) bool { return r == '\r' || r == '\n' || r == 0 }

// safeForKey reports whether nobody on the way can read what is sent.
func safeForKey(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || local(u))
}

// local reports whether an address is on this machine.
func local(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
