package config

import "strings"

// SecretValues are the values of settings that are secrets, and the keys in the variables
// and files that backend.profiles names. What is in a keyring is not asked for here.
func (s *Settings) SecretValues() []string {
	var values []string
	for _, row := range table {
		if row.Secret && row.Type == String {
			if v := s.String(row.Key); v != "" {
				values = append(values, v)
				if _, key, named := strings.Cut(v, ": "); named {
					values = append(values, key) // without the header that it is sent as
				}
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
