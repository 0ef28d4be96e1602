package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// Settings is what holds. It is never changed once it is made.
type Settings struct {
	values  map[string]setting
	ownMode string
	floor   map[string]any // what the machine's settings say
	machine string         // and whose these are
	locked  string
}

// OwnMode is the mode that the user and the editor say, and the machine allows, whatever a project tightens it to.
func (s *Settings) OwnMode() string { return s.ownMode }

type setting struct {
	value   any
	sources []string // those that made the value what it is
}

// Load makes the settings that hold from sources, whatever their order. What
// is wrong or not allowed is reported and left out; what the sources before it
// say, or the default, holds in its place.
func Load(sources ...Source) (*Settings, []Problem) {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b Source) int { return cmp.Compare(a.Origin, b.Origin) })
	var docs, machine []*document // of the machine there is at most one
	for i := range sources {
		if d := read(&sources[i]); d.source.Origin == Machine {
			machine = append(machine, d)
		} else {
			docs = append(docs, d)
		}
	}
	s := &Settings{values: map[string]setting{}, ownMode: policy.DefaultMode, floor: map[string]any{}}
	for i := range table {
		row := &table[i]
		now := setting{value: row.empty()}
		for _, d := range docs {
			if d.was != nil {
				now = s.hold(row, now, d)
			} else {
				now = s.layAll(row, now, d)
			}
			if row.Key == "mode" && d.source.Origin != Project {
				s.ownMode = now.value.(string)
			}
		}
		for _, d := range machine {
			now = s.holdMachine(row, now, d, docs)
		}
		s.values[row.Key] = now
	}
	var problems []Problem
	for _, d := range machine {
		s.lock(d)
	}
	for _, d := range slices.Concat(machine, docs) {
		problems = append(problems, d.told()...)
	}
	for _, source := range sources {
		problems = append(problems, source.exposed()...)
	}
	return s, problems
}

// layAll lays all that a source says about a row over what holds so far.
func (s *Settings) layAll(row *Setting, now setting, d *document) setting {
	for _, e := range d.said(row) {
		now = s.lay(row, now, d, e)
	}
	return now
}

// lay lays one thing that a source says about a row over what holds so far.
func (s *Settings) lay(row *Setting, now setting, d *document, e entry) setting {
	refuse := func(messages ...string) {
		for _, m := range messages {
			d.report(e.key(row), e.line, "%s", m)
		}
	}
	project := d.source.Origin == Project
	switch {
	case project && row.Scope != ScopeProject:
		refuse("can't be set by a project")
		return now
	case d.source.Origin == Client && row.Scope == ScopeUser:
		refuse("can only be set in the user's file")
		return now
	case project && !d.source.Trusted && row.Project == Never:
		refuse("can't be set by a project that is not trusted")
		return now
	}
	p := parser{row: row, origin: d.source.Origin, modes: s.modesSoFar()}
	want, ok := e.parse(&p, now.value)
	refuse(p.bad...)
	if !ok {
		return now
	}
	return s.put(row, now, d, e, want)
}

// put lays a value over what holds so far. A project, trusted or not, loosens
// nothing that the user or the editor has set.
func (s *Settings) put(row *Setting, now setting, d *document, e entry, want any) setting {
	name := d.source.String()
	if d.source.Origin == Project && row.tighten != nil {
		got, refused := row.tighten(row, now.value, want)
		for _, m := range refused {
			d.report(e.key(row), e.line, "%s", m)
		}
		if len(refused) > 0 && row.single() {
			return now
		}
		return setting{got, with(now.sources, name)}
	}
	if add := kinds[row.Type].add; add != nil {
		return setting{add(now.value, want), with(now.sources, name)}
	}
	return setting{want, []string{name}}
}

// with adds a source, which may have had a say already.
func with(sources []string, name string) []string {
	return append(slices.DeleteFunc(slices.Clone(sources), func(s string) bool { return s == name }), name)
}

// hold lays what a project said when it was trusted, and what it says now, over
// what holds so far: of each setting the stricter.
func (s *Settings) hold(row *Setting, now setting, d *document) setting {
	if row.Scope == ScopeProject && row.Project == Never {
		then, was := d.was.entries[row.Key]
		e, is := d.entries[row.Key]
		if !was {
			return now // nobody has said yes to it
		}
		parse := func(v jsontext.Value) (any, bool) {
			return kinds[row.Type].parse(&parser{row: row, modes: s.modesSoFar()}, v)
		}
		held, ok := parse(then.value)
		if !ok {
			return now
		}
		if row.held != nil {
			want := kinds[row.Type].empty
			if is {
				if got, ok := parse(e.value); ok {
					want = got
				}
			}
			held = row.held(held, want)
		}
		return s.put(row, now, d, e, held)
	}
	if row.Project == Tighten {
		now = s.layAll(row, now, d.was)
	}
	return s.layAll(row, now, d)
}

func (s *Settings) modesSoFar() []CustomMode {
	modes, _ := s.values["customModes"].value.([]CustomMode)
	return modes
}

func (row *Setting) empty() any {
	if row.Default != nil {
		return row.Default
	}
	return kinds[row.Type].empty
}

// single reports whether the value is one thing, that holds or does not.
func (row *Setting) single() bool { return kinds[row.Type].add == nil }

// Check reports what is wrong with a value, JSON, for key: whether it is a
// setting, and has the right type and range.
func (s *Settings) Check(key string, value []byte) error {
	row := lookup(key)
	if row == nil {
		return fmt.Errorf("%s is no setting%s", cut(key), near(key))
	}
	v := jsontext.Value(bytes.TrimSpace(value))
	if !v.IsValid() {
		return fmt.Errorf("%s: the value is not valid JSON", key)
	}
	p := parser{row: row, modes: s.modesSoFar()}
	kinds[row.Type].parse(&p, v)
	if len(p.bad) > 0 {
		return errors.New(key + ": " + strings.Join(p.bad, "; "))
	}
	return nil
}

// Explanation says what a setting is and why.
type Explanation struct {
	Key     string
	Value   any      // nil when the setting is secret
	Default bool     // no source had a say
	Sources []string // those that had, in order
}

// Explain tells where the value of key comes from; ok is false when key is no
// setting.
func (s *Settings) Explain(key string) (e Explanation, ok bool) {
	row := lookup(key)
	if row == nil {
		return Explanation{}, false
	}
	v := s.values[key]
	e = Explanation{Key: key, Value: clone(v.value), Default: len(v.sources) == 0, Sources: slices.Clone(v.sources)}
	if row.Secret {
		e.Value = nil
	}
	return e, true
}

// Values says in words what a setting may be.
func (row *Setting) Values() string { return row.values() }

// Meant suggests which of the names another one was meant to be, or is "".
func Meant(name string, names []string) string { return meant(name, names) }

// Near suggests what a key that is no setting was meant to be, or is "".
func Near(key string) string { return near(key) }

// String returns the value of a String setting. Like its neighbours it panics
// when the table has no such setting of that type.
func (s *Settings) String(key string) string { return get[string](s, key) }

// Bool returns the value of a Boolean setting.
func (s *Settings) Bool(key string) bool { return get[bool](s, key) }

// Int returns the value of an Integer setting.
func (s *Settings) Int(key string) int { return get[int](s, key) }

// Strings returns a copy of the value of a Strings setting.
func (s *Settings) Strings(key string) []string { return get[[]string](s, key) }

// Permissions returns a copy of the setting toolPermissions.
func (s *Settings) Permissions() map[string]string {
	return get[map[string]string](s, "toolPermissions")
}

// CustomModes returns a copy of the setting customModes.
func (s *Settings) CustomModes() []CustomMode { return get[[]CustomMode](s, "customModes") }

// CommandRules returns a copy of the setting commandRules.
func (s *Settings) CommandRules() []CommandRule { return get[[]CommandRule](s, "commandRules") }

func get[T any](s *Settings, key string) T {
	v, ok := s.values[key].value.(T)
	if !ok {
		panic(fmt.Sprintf("config: there is no setting %s of type %T", key, v))
	}
	return clone(v).(T)
}

// clone copies a value, so that nobody can change the settings.
func clone(v any) any {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v)
	case hosts.Network:
		v.Hosts = slices.Clone(v.Hosts)
		return v
	case []SetupStep:
		return cloneSetup(v)
	case []Backend:
		return cloneBackends(v)
	case map[string]string:
		return maps.Clone(v)
	case map[string]LanguageServer:
		return cloneServers(v)
	case map[string]MCPServer:
		return cloneMCPServers(v)
	case []CustomMode:
		got := slices.Clone(v)
		for i := range got {
			got[i].Permissions = maps.Clone(got[i].Permissions)
		}
		return got
	case []CommandRule:
		got := slices.Clone(v)
		for i, r := range got {
			got[i].Prefix, got[i].Match, got[i].NotMatch = slices.Clone(r.Prefix), slices.Clone(r.Match), slices.Clone(r.NotMatch)
		}
		return got
	}
	return v
}
