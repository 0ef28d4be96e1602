package redact

import (
	"net/url"
	"slices"
	"strings"
)

// Held are the secrets among the variables of an environment, which are
// NAME=value: the values of those whose name says so, and passwords in
// addresses.
func Held(environ []string) []string {
	var held []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if len(value) >= leastOther && namesSecret(strings.ToUpper(name)) && !strings.HasPrefix(value, "/") && !common(value) {
			held = append(held, value)
		}
		if p := urlPassword(value); len(p) >= leastOther && !common(p) {
			held = append(held, p)
		}
	}
	return held
}

// urlPassword is the password in an address, or "".
func urlPassword(address string) string {
	if !strings.Contains(address, "@") {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	p, _ := u.User.Password()
	return p
}

// namesSecret reports whether a variable holds a secret by its name, in upper
// case. A name ending in _FILE or _PATH leads to one.
func namesSecret(name string) bool {
	for _, end := range [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_KEY", "APIKEY", "_PAT", "_PWD", "_DSN", "DATABASE_URL", "CREDENTIAL", "CREDENTIALS", "_PASS", "_AUTH", "_SALT", "_KEY_BASE"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return slices.Contains([]string{"KEY", "PASS", "SALT", "AUTH", "DSN"}, name)
}
