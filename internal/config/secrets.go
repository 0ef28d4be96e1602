package config

import (
	"os"
	"regexp"
	"strings"
)

// variable stands in a key for what a variable of the environment holds.
var variable = regexp.MustCompile(`\$\{env:([^}]+)\}`)

// Key returns the key that a secret String setting holds, with the values of the
// variables that it names.
func (s *Settings) Key(setting string) string {
	return variable.ReplaceAllStringFunc(s.String(setting), func(whole string) string {
		return os.Getenv(variable.FindStringSubmatch(whole)[1])
	})
}

// SecretValues are the values of settings that are secrets, and the keys in the variables
// and files that they name. What is in a keyring is not asked for here.
func (s *Settings) SecretValues() []string {
	var values []string
	for _, row := range table {
		if !row.Secret || row.Type != String {
			continue
		}
		if v := s.Key(row.Key); v != "" {
			values = append(values, v)
			if _, key, named := strings.Cut(v, ": "); named && key != "" {
				values = append(values, key) // without the header that it is sent as
			}
		}
	}
	for _, server := range s.MCPServers() {
		for _, m := range []map[string]string{server.Env, server.Headers} {
			for _, v := range m {
				values = append(values, v)
			}
		}
	}
	for _, b := range s.Backends() {
		values = append(values, b.keys()...)
	}
	return values
}
