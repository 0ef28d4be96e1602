package setup

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// document is the text of a settings file, and what it says. Changes keep all of
// the text that they are not about.
type document interface {
	tree() map[string]any // a copy
	set(path []string, v any) error
	remove(path []string) error

	// source is the text of a value, "" where there is none; restore puts such a
	// text back.
	source(path []string) string
	restore(path []string, source string) error

	add(path []string, element any) error
	take(path []string, element any) error
	text() []byte
}

// family is a family of formats.
type family string

const (
	strictJSON family = "JSON"
	jsonc      family = "JSON with comments"
	tomlText   family = "TOML"
	wholeFile  family = "a file of its own"
	ours       family = "settings of sidecar-ls"
)

// open reads a document. Its error names the place.
func open(f family, text []byte) (document, error) {
	if f == tomlText {
		return openTOML(text)
	}
	return openJSON(text, f == jsonc || f == ours)
}

// member and object are a value with named parts, in the order in which they are
// written.
type member struct {
	name  string
	value any // string, bool, json.Number, []string, []object or object
}

type object []member

// plain is a value as it is read back.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		out := map[string]any{}
		for _, m := range v {
			out[m.name] = plain(m.value)
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case []object:
		out := make([]any, len(v))
		for i, o := range v {
			out[i] = plain(o)
		}
		return out
	}
	return v
}

// at is the value at a path.
func at(tree map[string]any, path []string) (v any, ok bool) {
	v = tree
	for _, name := range path {
		m, is := v.(map[string]any)
		if !is {
			return nil, false
		}
		if v, ok = m[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// put sets a value in a tree; nil takes it out.
func put(tree map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		next, ok := tree[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[name] = next
		}
		tree = next
	}
	if v == nil {
		delete(tree, path[len(path)-1])
		return
	}
	tree[path[len(path)-1]] = v
}

// blocked names the part of a path that is there and can hold nothing.
func blocked(tree map[string]any, path []string) error {
	for i := 1; i < len(path); i++ {
		v, ok := at(tree, path[:i])
		if !ok {
			return nil
		}
		if _, is := v.(map[string]any); !is {
			return fmt.Errorf("%s is not an object, so nothing can be put into it; mend it first", shown(path[:i]))
		}
	}
	return nil
}

// holds reports whether the list at a path has an element.
func holds(tree map[string]any, path []string, element any) bool {
	v, _ := at(tree, path)
	list, _ := v.([]any)
	return slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, element) })
}

// listed fails where something else than a list is.
func listed(tree map[string]any, path []string) error {
	v, ok := at(tree, path)
	if _, is := v.([]any); ok && !is {
		return fmt.Errorf("%s is not a list; mend it first", shown(path))
	}
	return nil
}

// shown is a path for people.
func shown(path []string) string { return strings.Join(path, ".") }

// agrees checks that a text says exactly what is expected of it: a mistake of
// the change itself must not get into a file.
func agrees(f family, text []byte, want map[string]any) error {
	d, err := open(f, text)
	if err == nil && !reflect.DeepEqual(d.tree(), want) {
		err = fmt.Errorf("it would say something else than it should")
	}
	if err != nil {
		return fmt.Errorf("the file is written in a way that can't be changed safely (%w)", err)
	}
	return nil
}
