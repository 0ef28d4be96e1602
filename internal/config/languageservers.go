package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// serverNames are the language servers that can be set up.
var serverNames = []string{"clangd", "gopls", "pyright", "rust-analyzer", "typescript-language-server"}

// ServerNames lists the language servers that can be set up, sorted.
func ServerNames() []string { return slices.Clone(serverNames) }

// LanguageServer is how a language server is run.
type LanguageServer struct {
	Off     bool     // it is not
	Command []string // argument vector; empty: what is on PATH
	Options string   // initializationOptions, a JSON object; "": those that we choose
}

// languageServers drops the entries that are wrong and keeps the others.
func (p *parser) languageServers(v jsontext.Value) (any, bool) {
	if v.Kind() != '{' {
		p.wrong("must be an object of language servers, not %s", shown(v))
		return nil, false
	}
	got := map[string]LanguageServer{}
	for _, m := range members(v) {
		where := cut(m.name) + ": "
		if !slices.Contains(serverNames, m.name) {
			p.wrong("%sis no language server that is known; known are %s", where, strings.Join(serverNames, ", "))
			continue
		}
		var s LanguageServer
		if !p.fields(where, m.value, map[string]func(string, jsontext.Value) bool{
			"enabled": func(where string, v jsontext.Value) bool {
				if k := v.Kind(); k != 't' && k != 'f' {
					p.wrong("%s must be true or false, not %s", where, shown(v))
					return false
				}
				s.Off = v.Kind() == 'f'
				return true
			},
			"command": p.intoList(&s.Command),
			"initializationOptions": func(where string, v jsontext.Value) bool {
				if v.Kind() != '{' {
					p.wrong("%s must be an object, not %s", where, shown(v))
					return false
				}
				s.Options = string(v)
				return true
			},
		}) {
			continue
		}
		if len(s.Command) > 0 && s.Command[0] == "" {
			p.wrong("%scommand needs a program", where)
			continue
		}
		got[m.name] = s
	}
	return got, true
}

// addServers lets a later source replace what one before it says of a server.
func addServers(have, want any) any {
	got := map[string]LanguageServer{}
	maps.Copy(got, have.(map[string]LanguageServer))
	maps.Copy(got, want.(map[string]LanguageServer))
	return got
}

// LanguageServers returns a copy of the setting languageServers.
func (s *Settings) LanguageServers() map[string]LanguageServer {
	return get[map[string]LanguageServer](s, "languageServers")
}

func cloneServers(all map[string]LanguageServer) map[string]LanguageServer {
	got := maps.Clone(all)
	for name, s := range got {
		s.Command = slices.Clone(s.Command)
		got[name] = s
	}
	return got
}
