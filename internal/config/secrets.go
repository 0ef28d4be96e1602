package config

// SecretValues are the values of settings that are secrets.
func (s *Settings) SecretValues() []string {
	var values []string
	for _, row := range table {
		if row.Secret && row.Type == String {
			if v := s.String(row.Key); v != "" {
				values = append(values, v)
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
		if b.Key != "" {
			values = append(values, b.Key)
		}
	}
	return values
}
