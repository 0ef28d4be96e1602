package langserver

import (
	"encoding/json"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// SettingsOf is what the settings say about language servers. They run what a
// project names (build scripts, plug-ins, go list with its toolchain), so an
// unknown project gets none.
func SettingsOf(set *config.Settings) Settings {
	s := Settings{Servers: map[string]Server{}}
	if set.String("workspace.trust") != "trusted" {
		s.Refused = "language servers can run what a project brings along, so none runs before the user trusts the workspace (sidecar.workspace.trust)"
	}
	for name, one := range set.LanguageServers() {
		s.Servers[name] = Server{Off: one.Off, Command: one.Command, Options: json.RawMessage(one.Options)}
	}
	return s
}
