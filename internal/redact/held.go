package redact

import "strings"

// Held are the secrets among the variables of an environment, which are
// NAME=value: the values of those whose name says so.
func Held(environ []string) []string {
	const shortest = 8
	var held []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if len(value) >= shortest && namesSecret(strings.ToUpper(name)) && !strings.HasPrefix(value, "/") {
			held = append(held, value)
		}
	}
	return held
}

// namesSecret reports whether a variable holds a secret by its name. A name
// ending in _FILE or _PATH leads to one.
func namesSecret(name string) bool {
	for _, end := range [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_KEY", "APIKEY", "_PAT", "_PWD", "_DSN", "DATABASE_URL", "CREDENTIAL"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
