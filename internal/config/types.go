package config

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Bounds of lists, and of a custom mode's name in bytes.
const (
	maxModeName     = 64
	maxCustomModes  = 100
	maxCommandRules = 10_000
	maxBackends     = 100
)

// What a custom mode may be made from, and where its edits may go; what it is
// when nothing is said comes first.
var (
	bases        = []string{"cautious", "autonomous", "manual"}
	destinations = []string{"editor", "review"}
)

// rests are which words may follow those of a rule that allows.
var rests = []string{"any", "known"}

// CustomMode is a mode that a user made from a built-in one.
type CustomMode struct {
	Name        string
	Description string
	Base        string            // whose questions it asks: cautious (default), autonomous or manual
	Destination string            // where its edits go: editor (default) or review
	Permissions map[string]string // tool to allow, ask or deny
}

// CommandRule says what to do about command lines that begin with Prefix.
type CommandRule struct {
	Prefix   []string // argument vector
	Decision string   // allow, ask or deny
	Rest     string   // of an allow: any (or "") or known, which are the words that may follow
	In       string   // a directory: it holds only in its workspace; "": everywhere
	Packages string   // of an allow: the digest of the packages that an install may install; "": it is about no install
	Match    []string // command lines that the rule must match
	NotMatch []string // command lines that it must not match
}

// Holds reports whether a rule holds in a workspace with these folders, the first of which is
// where commands begin.
func (r CommandRule) Holds(folders []string) bool {
	return r.In == "" || len(folders) > 0 && realPath(r.In) == realPath(folders[0])
}

// kind is what the code knows about a Type.
type kind struct {
	empty any
	// parse makes the value. What is wrong goes to bad; ok is false when
	// nothing of the value can be used.
	parse func(p *parser, v jsontext.Value) (value any, ok bool)
	// add lays want over have; nil: want replaces have.
	add func(have, want any) any
}

var kinds = map[Type]kind{
	String:       {"", (*parser).choice, nil},
	Boolean:      {false, (*parser).boolean, nil},
	Integer:      {0, (*parser).integer, nil},
	Strings:      {[]string(nil), (*parser).list, nil},
	Permissions:  {map[string]string(nil), (*parser).permissions, addPermissions},
	CustomModes:  {[]CustomMode(nil), (*parser).customModes, addModes},
	CommandRules: {[]CommandRule(nil), (*parser).commandRules, addRules},
	Backends:     {[]Backend(nil), (*parser).backends, addBackends},
	Hosts:        {hosts.Network{}, (*parser).network, nil},

	Hooks:           {[][]byte(nil), (*parser).hooks, addHooks},
	CustomTools:     {[]CustomTool(nil), (*parser).customTools, addCustomTools},
	ShadowSetup:     {[]SetupStep(nil), (*parser).shadowSetup, addSetup},
	Agents:          {map[string]Agent(nil), (*parser).agents, addAgents},
	LanguageServers: {map[string]LanguageServer(nil), (*parser).languageServers, addServers},
	MCPServers:      {map[string]MCPServer(nil), (*parser).mcpServers, addMCPServers},
}

// addPermissions lets the later source win, but keeps every deny.
func addPermissions(have, want any) any {
	got := map[string]string{}
	maps.Copy(got, have.(map[string]string))
	for tool, outcome := range want.(map[string]string) {
		if got[tool] != "deny" {
			got[tool] = outcome
		}
	}
	return got
}

// addModes lets a later mode replace one of the same name.
func addModes(have, want any) any {
	got := slices.Clone(have.([]CustomMode))
	for _, m := range want.([]CustomMode) {
		if i := slices.IndexFunc(got, func(o CustomMode) bool { return o.Name == m.Name }); i >= 0 {
			got[i] = m
		} else {
			got = append(got, m)
		}
	}
	return got
}

func addRules(have, want any) any {
	return slices.Concat(have.([]CommandRule), want.([]CommandRule))
}
