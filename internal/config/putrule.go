package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// ErrThere says that a rule is in the settings already.
var ErrThere = errors.New("the rule is there already")

// rulesWith is the value of commandRules in a source with one more rule. The others stay as
// they are written.
func rulesWith(src Source, r CommandRule) ([]byte, error) {
	type written struct {
		Prefix   []string `json:"prefix"`
		Decision string   `json:"decision"`
		Rest     string   `json:"rest,omitempty"`
		In       string   `json:"in,omitempty"`
		Packages string   `json:"packages,omitempty"`
	}
	d := read(&src)
	for _, p := range d.problems {
		if p.Key == "" {
			return nil, errors.New(p.String())
		}
	}
	e := d.entries[ruleKey]
	var all []jsontext.Value
	if e.value != nil {
		if e.value.Kind() != '[' {
			return nil, fmt.Errorf("%s is no list in %s; change it there by hand", ruleKey, src.String())
		}
		all = elements(e.value)
	}
	if len(all) >= maxCommandRules {
		return nil, fmt.Errorf("%s has %d rules already", ruleKey, len(all))
	}
	for _, v := range all {
		var have written
		if json.Unmarshal(v, &have) == nil && slices.Equal(have.Prefix, r.Prefix) && have.Decision == r.Decision && have.Rest == r.Rest && have.Packages == r.Packages && (have.In == r.In || have.In == "") {
			return nil, ErrThere
		}
	}
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(written{r.Prefix, r.Decision, r.Rest, r.In, r.Packages}); err != nil {
		return nil, err
	}
	rule := bytes.TrimSpace(one.Bytes())
	if len(all) == 0 {
		return fmt.Appendf(nil, "[\n    %s\n  ]", rule), nil
	}
	return rule, nil
}

const ruleKey = "commandRules"

// putRule returns the text of a source with one more rule at the end of its list, with the
// comments there.
func putRule(src Source, r CommandRule) ([]byte, error) {
	value, err := rulesWith(src, r)
	if err != nil {
		return nil, err
	}
	d := read(&src)
	e, ok := d.entries[ruleKey]
	if !ok || len(elements(e.value)) == 0 {
		return Put(src, ruleKey, value)
	}
	mark := []byte("\xef\xbb\xbf")
	data, marked := bytes.CutPrefix(src.Data, mark)
	end := int(e.end) - 1 // the bracket that ends the list
	plain := PlainJSON(data)
	last := len(bytes.TrimRight(plain[:end], " \t\r\n"))
	between := data[last:end]
	comma := ","
	if hasComma(between) {
		comma = ""
	}
	between = bytes.TrimRight(between, " \t\r\n")
	out := bytes.Join([][]byte{data[:last], []byte(comma), between, []byte("\n    "), value, []byte("\n  "), data[end:]}, nil)
	if marked {
		out = append(mark, out...)
	}
	// Nothing is written but what was asked for.
	check := read(&Source{Data: out})
	want := append(slices.Clone(elements(e.value)), value)
	if !slices.EqualFunc(elements(check.entries[ruleKey].value), want, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) }) {
		return nil, fmt.Errorf("%s can't be changed in %s; change it there by hand", ruleKey, src.String())
	}
	return out, nil
}

// PutUserRule adds a rule to those of the user's file.
func PutUserRule(r CommandRule) error {
	src, err := UserSource()
	if err != nil {
		return err
	}
	return putUser(src, func() ([]byte, error) { return putRule(src, r) })
}

const networkKey = "sandbox.network"

// PutUserHost adds a host to those that commands reach unasked, in the user's file.
func PutUserHost(h hosts.Host) error {
	src, err := UserSource()
	if err != nil {
		return err
	}
	return putUser(src, func() ([]byte, error) { return putHost(src, h) })
}

// putHost returns the text of a source with one more host. The others stay as they are written.
func putHost(src Source, h hosts.Host) ([]byte, error) {
	one, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	d := read(&src)
	for _, p := range d.problems {
		if p.Key == "" {
			return nil, errors.New(p.String())
		}
	}
	all := []jsontext.Value{jsontext.Value(`"` + networkAsk + `"`)}
	switch v := d.entries[networkKey].value; {
	case v == nil, string(v) == `"`+networkAsk+`"`:
	case v.Kind() == '[':
		all = elements(v)
	default:
		return nil, fmt.Errorf("%s is %s in %s, where a host changes nothing; change it there by hand", networkKey, shown(v), src.String())
	}
	if slices.ContainsFunc(all, func(v jsontext.Value) bool { return bytes.Equal(v, one) }) {
		return nil, ErrThere
	}
	if len(all) >= maxHosts {
		return nil, fmt.Errorf("%s has %d hosts already", networkKey, len(all))
	}
	var parts [][]byte
	for _, v := range append(all, one) {
		parts = append(parts, v)
	}
	return Put(src, networkKey, fmt.Appendf(nil, "[%s]", bytes.Join(parts, []byte(", "))))
}
