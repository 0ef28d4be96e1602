package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// packaged is the version of a program that npm has installed, as its package says it: some
// take many seconds to say it themselves. "" is none.
func packaged(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		above := filepath.Dir(dir)
		if filepath.Base(above) != "node_modules" && filepath.Base(filepath.Dir(above)) != "node_modules" {
			continue
		}
		var p struct{ Version string }
		if data, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && json.Unmarshal(data, &p) == nil {
			return versionNumber.FindString(p.Version)
		}
	}
	return ""
}
