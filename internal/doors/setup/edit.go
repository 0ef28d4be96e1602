package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// item is one thing that a file is to say.
type item struct {
	kind  kind
	path  []string
	value any
}

type kind string

const (
	entry        kind = "entry"         // how our server is started, by its name
	value        kind = "value"         // a value of another setting
	element      kind = "element"       // a text or an object in a list
	elementThere kind = "element there" // the same, if there is that list: none means all
	loosest      kind = "loosest"       // the first of several values; the others let it do less, and stay
	narrowed     kind = "narrowed"      // a list, where there is one without what that lacks, but for the last
)

// fit is an item as it is for what is there, which it makes no looser.
func (it item) fit(cur any, there bool) item {
	values, _ := it.value.([]string)
	switch it.kind {
	case loosest:
		it.kind, it.value = value, values[0]
		if s, ok := cur.(string); ok && slices.Contains(values, s) {
			it.value = s
		}
	case narrowed:
		it.kind = value
		if list, ok := cur.([]any); ok && there {
			last := len(values) - 1
			kept := slices.DeleteFunc(slices.Clone(values[:last]), func(s string) bool { return !slices.Contains(list, any(s)) })
			it.value = slices.Concat(kept, values[last:last+1])
		}
	}
	return it
}

// done is an item that a file was made to say, and what that takes to undo.
type done struct {
	Kind  kind     `json:"kind"`
	Path  []string `json:"path"`
	Value any      `json:"value"`
	Had   string   `json:"had,omitempty"` // the text of what was there
	Depth int      `json:"depth"`         // how many parts of the path were there
}

// program is what an entry starts.
func program(entry any) string {
	m, _ := entry.(map[string]any)
	if list, _ := m["command"].([]any); len(list) > 0 {
		name, _ := list[0].(string)
		return name
	}
	name, _ := m["command"].(string)
	return name
}

// arguments are those with which an entry starts its program.
func arguments(entry any) []string {
	m, _ := entry.(map[string]any)
	var out []string
	for _, list := range []any{m["command"], m["args"]} {
		texts, _ := list.([]any)
		for _, t := range texts {
			out = append(out, fmt.Sprint(t))
		}
	}
	if _, apart := m["command"].(string); !apart && len(out) > 0 {
		return out[1:]
	}
	return out
}

// isOurs reports whether an entry starts this program, whatever its arguments.
func isOurs(entry any) bool {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(program(entry))), ".exe") == "sidecar-ls"
}

// isGone reports whether an entry names a file that is not there any more.
func isGone(entry any) bool {
	name := program(entry)
	_, err := os.Stat(name)
	return filepath.IsAbs(name) && errors.Is(err, fs.ErrNotExist)
}

// edited is a text that says all items.
type edited struct {
	text    []byte
	did     []done
	foreign []string // entries of our name that start something else, and are replaced
}

// edit makes a text say the items. What it says already stays as it is.
func edit(f family, text []byte, items []item) (edited, error) {
	out := edited{text: text}
	d, err := open(f, text)
	if err != nil {
		return out, err
	}
	want := d.tree()
	for _, it := range items {
		if err := blocked(want, it.path); err != nil {
			return out, err
		}
		cur, there := at(want, it.path)
		it = it.fit(cur, there)
		switch {
		case it.kind == elementThere && !there:
			continue
		case it.kind == element || it.kind == elementThere:
			one := plain(it.value)
			if err := listed(want, it.path); err != nil {
				return out, err
			}
			if holds(want, it.path, one) {
				continue
			}
			out.did = append(out.did, done{element, it.path, one, "", depth(want, it.path)})
			err = d.add(it.path, it.value)
			list, _ := cur.([]any)
			put(want, it.path, append(slices.Clone(list), one))
		case it.kind == entry && isOurs(cur):
			if has, wish := arguments(cur), arguments(plain(it.value)); len(wish) > 1 && !slices.Equal(has, wish) {
				return out, fmt.Errorf("%s starts sidecar-ls with the arguments %q already, and setup leaves them alone; take it out first with --undo, or write %q there", shown(it.path), has, wish)
			}
			for _, m := range it.value.(object) {
				p := append(slices.Clone(it.path), m.name)
				_, has := at(want, p)
				if err != nil || has && (m.name != "command" || !isGone(cur)) {
					continue // the user's own way is left alone
				}
				out.did = append(out.did, done{value, p, plain(m.value), d.source(p), depth(want, p)})
				err = d.set(p, m.value)
				put(want, p, plain(m.value))
			}
		case there && reflect.DeepEqual(cur, plain(it.value)):
			continue
		default:
			if it.kind == entry && there {
				out.foreign = append(out.foreign, shown(it.path))
			}
			out.did = append(out.did, done{it.kind, it.path, plain(it.value), d.source(it.path), depth(want, it.path)})
			err = d.set(it.path, it.value)
			put(want, it.path, plain(it.value))
		}
		if err != nil {
			return out, err
		}
	}
	if len(out.did) == 0 {
		return out, nil
	}
	out.text = d.text()
	return out, agrees(f, out.text, want)
}

// depth is how many parts of a path are there.
func depth(tree map[string]any, path []string) int {
	for i := range path {
		if _, ok := at(tree, path[:i+1]); !ok {
			return i
		}
	}
	return len(path)
}

// takeOut undoes items in a text that has changed since. left are those that the
// user has changed, too.
func takeOut(f family, text []byte, did []done) (out []byte, left []string, err error) {
	d, err := open(f, text)
	if err != nil {
		return nil, nil, err
	}
	want := d.tree()
	for _, it := range slices.Backward(did) {
		cur, there := at(want, it.Path)
		switch {
		case !there:
			continue
		case it.Kind == element:
			if !holds(want, it.Path, it.Value) {
				continue
			}
			err = d.take(it.Path, it.Value)
			list, _ := cur.([]any)
			put(want, it.Path, slices.DeleteFunc(slices.Clone(list), func(e any) bool { return reflect.DeepEqual(e, it.Value) }))
		case !reflect.DeepEqual(cur, it.Value) && (it.Kind != entry || !isOurs(cur)):
			left = append(left, shown(it.Path))
			continue
		case it.Had != "":
			if err = d.restore(it.Path, it.Had); err == nil {
				old, _ := at(d.tree(), it.Path)
				put(want, it.Path, old)
			}
		default:
			err = d.remove(it.Path)
			put(want, it.Path, nil)
		}
		if err == nil {
			err = prune(d, want, it)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	settle(d, want)
	return d.text(), left, agrees(f, d.text(), want)
}

// prune takes away what was made to hold an item and holds nothing now.
func prune(d document, want map[string]any, it done) error {
	for i := len(it.Path); i > it.Depth; i-- {
		v, ok := at(want, it.Path[:i])
		if !ok {
			continue
		}
		m, isMap := v.(map[string]any)
		l, isList := v.([]any)
		if isMap && len(m) > 0 || isList && len(l) > 0 || !isMap && !isList {
			return nil
		}
		if err := d.remove(it.Path[:i]); err != nil {
			return err
		}
		put(want, it.Path[:i], nil)
	}
	return nil
}

// settle lets go of tables that vanish from a TOML file with the last key below
// them: its text has no place for an empty one that was never written.
func settle(d document, want map[string]any) {
	if _, ok := d.(*tomlDocument); !ok {
		return
	}
	said := d.tree()
	for name, v := range want {
		if m, ok := v.(map[string]any); ok && len(m) == 0 && said[name] == nil {
			delete(want, name)
		}
	}
}

// outline says what items put into a file, or what of them is taken out, for a file whose
// lines are too long to be shown.
func outline(did []done, undone bool) string {
	var b strings.Builder
	for _, it := range did {
		data, err := json.Marshal(it.Value)
		if err != nil {
			continue
		}
		sign := "+ "
		switch {
		case undone:
			sign = "- "
		case it.Had != "":
			sign = "~ "
		}
		b.WriteString(sign + shown(it.Path) + ": " + string(data) + "\n")
	}
	return b.String()
}
