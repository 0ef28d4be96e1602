package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parser turns the value of one row into Go.
type parser struct {
	row    *Setting
	origin Origin       // of the value
	modes  []CustomMode // that are known so far
	bad    []string     // what is wrong
}

func (p *parser) wrong(format string, args ...any) {
	p.bad = append(p.bad, fmt.Sprintf(format, args...))
}

func (p *parser) choice(v jsontext.Value) (any, bool) {
	s, ok := p.text("it", v)
	if !ok || len(p.row.Enum) == 0 || slices.Contains(p.row.Enum, s) ||
		p.row.Custom && slices.ContainsFunc(p.modes, func(m CustomMode) bool { return m.Name == s }) {
		return s, ok
	}
	if now := p.row.formerly[s]; now != "" {
		p.wrong("%s is called %s now; the old value still works", s, now)
		return now, true
	}
	or := ""
	if p.row.Custom {
		or = ", or a custom mode"
	}
	names := slices.Clone(p.row.Enum)
	for _, m := range p.modes {
		if p.row.Custom {
			names = append(names, m.Name)
		}
	}
	p.wrong("must be one of %s%s, not %s%s", strings.Join(p.row.Enum, ", "), or, shown(v), meant(s, names))
	return nil, false
}

func (p *parser) boolean(v jsontext.Value) (any, bool) {
	if k := v.Kind(); k != 't' && k != 'f' {
		p.wrong("must be true or false, not %s", shown(v))
		return nil, false
	}
	return v.Kind() == 't', true
}

func (p *parser) integer(v jsontext.Value) (any, bool) {
	n, err := strconv.Atoi(string(v))
	if err != nil || n < p.row.Min || n > p.row.Max {
		p.wrong("must be a whole number from %d to %d, not %s", p.row.Min, p.row.Max, shown(v))
		return nil, false
	}
	return n, true
}

func (p *parser) list(v jsontext.Value) (any, bool) {
	got, ok := p.texts("it", v)
	for _, s := range got {
		if len(p.row.Enum) > 0 && !slices.Contains(p.row.Enum, s) {
			p.wrong("each must be one of %s, not %q%s", strings.Join(p.row.Enum, ", "), cut(s), meant(s, p.row.Enum))
			return nil, false
		}
	}
	return got, ok
}

func (p *parser) permissions(v jsontext.Value) (any, bool) { return p.outcomes("", v) }

// outcomes drops the entries that are wrong and keeps the others.
func (p *parser) outcomes(where string, v jsontext.Value) (map[string]string, bool) {
	if v.Kind() != '{' {
		p.wrong("%smust be an object of tool names, each allow, ask or deny, not %s", where, shown(v))
		return nil, false
	}
	got := map[string]string{}
	for _, m := range members(v) {
		name := where + cut(m.name)
		if o, ok := p.text(name, m.value); ok && slices.Contains(outcomes, o) {
			got[m.name] = o
		} else if ok {
			p.wrong("%s must be allow, ask or deny, not %s%s", name, shown(m.value), meant(o, outcomes))
		}
	}
	return got, true
}

func (p *parser) customModes(v jsontext.Value) (any, bool) {
	all, ok := p.entries(v, "modes", maxCustomModes)
	if !ok {
		return nil, false
	}
	var got []CustomMode
	for i, e := range all {
		m, ok := p.customMode(fmt.Sprintf("mode %d: ", i+1), e)
		if ok && slices.ContainsFunc(got, func(o CustomMode) bool { return o.Name == m.Name }) {
			p.wrong("mode %d: there are two modes %s", i+1, m.Name)
			ok = false
		}
		if ok {
			got = append(got, m)
		}
	}
	return got, true
}

func (p *parser) customMode(where string, v jsontext.Value) (CustomMode, bool) {
	m := CustomMode{Base: bases[0], Destination: destinations[0]}
	ok := p.fields(where, v, map[string]func(where string, v jsontext.Value) bool{
		"name":             p.into(&m.Name),
		"description":      p.into(&m.Description),
		"base":             p.oneOf(&m.Base, bases...),
		"approvalBehavior": p.oneOf(&m.Base, bases...),
		"destination":      p.oneOf(&m.Destination, destinations...),
		"toolPermissions": func(where string, v jsontext.Value) (ok bool) {
			m.Permissions, ok = p.outcomes(where+": ", v)
			return ok
		},
	})
	switch {
	case !ok:
	case m.Name == "":
		p.wrong("%sneeds a name", where)
		return m, false
	case len(m.Name) > maxModeName || strings.ContainsFunc(m.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.wrong("%sthe name must be at most %d printable bytes", where, maxModeName)
		return m, false
	case slices.Contains(builtinModes, m.Name):
		p.wrong("%s%s is the name of a built-in mode", where, m.Name)
		return m, false
	}
	return m, ok
}

func (p *parser) commandRules(v jsontext.Value) (any, bool) {
	all, ok := p.entries(v, "rules", maxCommandRules)
	if !ok {
		return nil, false
	}
	var got []CommandRule
	for i, e := range all {
		var r CommandRule
		where := fmt.Sprintf("rule %d: ", i+1)
		ok := p.fields(where, e, map[string]func(where string, v jsontext.Value) bool{
			"prefix":   p.intoList(&r.Prefix),
			"decision": p.oneOf(&r.Decision, outcomes...),
			"rest":     p.oneOf(&r.Rest, rests...),
			"in":       p.into(&r.In),
			"packages": p.into(&r.Packages),
			"match":    p.intoList(&r.Match),
			"notMatch": p.intoList(&r.NotMatch),
		})
		switch {
		case !ok:
		case len(r.Prefix) == 0 || r.Prefix[0] == "":
			p.wrong("%sneeds a prefix, the first words of the command", where)
		case r.Decision == "":
			p.wrong("%sneeds a decision: allow, ask or deny", where)
		case r.In != "" && !filepath.IsAbs(r.In):
			p.wrong("%sin: must be the whole path of a directory, not %s", where, cut(r.In))
		case r.Packages != "" && r.Decision == "allow" && r.Rest != "known":
			p.wrong("%spackages: takes the rest known", where)
		default:
			if r.Packages != "" && r.Decision != "allow" { // it forbids more than that
				p.wrong("%spackages: belongs to a rule that allows", where)
				r.Packages = ""
			}
			// A rule that its examples contradict may still forbid; to allow
			// something it has to be understood.
			err := r.checkExamples()
			if err != nil {
				p.wrong("%s%v", where, err)
			}
			if err == nil || r.Decision != "allow" {
				got = append(got, r)
			}
		}
	}
	return got, true
}

// entries returns the elements of a list that has no more than most of them.
func (p *parser) entries(v jsontext.Value, what string, most int) ([]jsontext.Value, bool) {
	if v.Kind() != '[' {
		p.wrong("must be a list of %s, not %s", what, shown(v))
		return nil, false
	}
	all := elements(v)
	if len(all) > most {
		p.wrong("must be at most %d %s, not %d", most, what, len(all))
		return nil, false
	}
	return all, true
}

// fields reads the members of an object. A member that is not known is
// reported and left out; one that is wrong spoils the object.
func (p *parser) fields(where string, v jsontext.Value, known map[string]func(where string, v jsontext.Value) bool) bool {
	if v.Kind() != '{' {
		p.wrong("%smust be an object, not %s", where, shown(v))
		return false
	}
	ok := true
	for _, m := range members(v) {
		if f := known[m.name]; f == nil {
			names := slices.Sorted(maps.Keys(known))
			p.wrong("%s%s is not known%s; known are %s", where, cut(m.name), meant(m.name, names), strings.Join(names, ", "))
		} else if m.value.Kind() != 'n' {
			ok = f(where+m.name, m.value) && ok
		}
	}
	return ok
}

func (p *parser) into(to *string) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) (ok bool) {
		*to, ok = p.text(where, v)
		return ok
	}
}

func (p *parser) intoList(to *[]string) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) (ok bool) {
		*to, ok = p.texts(where, v)
		return ok
	}
}

func (p *parser) flag(set func(on bool)) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) bool {
		if k := v.Kind(); k != 't' && k != 'f' {
			p.wrong("%s must be true or false, not %s", where, shown(v))
			return false
		}
		set(v.Kind() == 't')
		return true
	}
}

func (p *parser) intoNumber(to *int, least, most int) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) bool {
		n, err := strconv.Atoi(string(v))
		if err != nil || n < least || n > most {
			p.wrong("%s must be a whole number from %d to %d, not %s", where, least, most, shown(v))
			return false
		}
		*to = n
		return true
	}
}

func (p *parser) oneOf(to *string, choices ...string) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) bool {
		s, ok := p.text(where, v)
		if ok && !slices.Contains(choices, s) {
			p.wrong("%s must be one of %s, not %s%s", where, strings.Join(choices, ", "), shown(v), meant(s, choices))
			return false
		}
		*to = s
		return ok
	}
}

func (p *parser) text(where string, v jsontext.Value) (s string, ok bool) {
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		p.wrong("%s must be a string, not %s", where, shown(v))
		return "", false
	}
	return s, true
}

func (p *parser) texts(where string, v jsontext.Value) ([]string, bool) {
	if v.Kind() != '[' {
		p.wrong("%s must be a list of strings, not %s", where, shown(v))
		return nil, false
	}
	var got []string
	for _, e := range elements(v) {
		s, ok := p.text("each of "+where, e)
		if !ok {
			return nil, false
		}
		got = append(got, s)
	}
	return got, true
}

// shown is a value as a message quotes it.
func shown(v jsontext.Value) string {
	v = v.Clone()
	if v.Compact() != nil {
		return "what is there"
	}
	return cut(string(v))
}

func cut(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Families are the families of tools in a list with commas, as sidecar.mcp.tools has them;
// nil for an empty text.
func Families(text string) ([]string, error) {
	var got []string
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case !slices.Contains(families, name):
			return nil, fmt.Errorf("there is no family %q%s; the families are %s", cut(name), meant(name, families), strings.Join(families, ", "))
		default:
			got = append(got, name)
		}
	}
	return got, nil
}
