package config

import (
	"fmt"
	"maps"
	"slices"
)

// Misnamed are the tools in permissions that don't exist, where one of the names is close.
// Others pass: a tool of a server that is not connected yet has a name like no other.
func (s *Settings) Misnamed(names []string) (problems []string) {
	look := func(where string, permissions map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(permissions)) {
			if near := Meant(name, names); near != "" && !slices.Contains(names, name) {
				problems = append(problems, fmt.Sprintf("sidecar.%s: there is no tool %s%s", where, name, near))
			}
		}
	}
	look("toolPermissions", s.Permissions())
	for _, m := range s.CustomModes() {
		look("customModes: "+m.Name, m.Permissions)
	}
	return problems
}
