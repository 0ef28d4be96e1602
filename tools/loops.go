package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxChecks bounds how many schemas one value can be checked against.
const maxChecks = 2_000

// checkReferences fails for a schema from outside with which checking a value
// would not end, or take for ever: one that leads to itself without a step into
// the value, or to very many others. The library follows references blindly.
// Only references within the schema are taken; nothing is fetched.
func checkReferences(data json.RawMessage) error {
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		return err
	}
	w := &referenceWalk{root: root, cost: map[string]int{}}
	return w.all("", root, 0)
}

// referenceWalk knows schemas by their place, a JSON pointer.
type referenceWalk struct {
	root any
	cost map[string]int // of checking a value against the schema there; 0: being worked out
}

// maxDepth bounds how deep schemas lie in each other.
const maxDepth = 200

// all looks at every object in the document, whatever it is for.
func (w *referenceWalk) all(at string, v any, depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	switch v := v.(type) {
	case map[string]any:
		if _, err := w.checks(at, depth); err != nil {
			return err
		}
		for k, sub := range v {
			if err := w.all(at+"/"+escaped.Replace(k), sub, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for i, sub := range v {
			if err := w.all(at+"/"+strconv.Itoa(i), sub, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	escaped   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaped = strings.NewReplacer("~1", "/", "~0", "~")
)

// checks is how many schemas a value is checked against that is checked
// against the one at a place.
func (w *referenceWalk) checks(at string, depth int) (int, error) {
	if n, known := w.cost[at]; known {
		if n == 0 {
			return 0, fmt.Errorf("the schema at #%s leads to itself", at)
		}
		return n, nil
	}
	schema, ok := w.at(at)
	if !ok {
		return 0, fmt.Errorf("there is no schema at #%s", at)
	}
	w.cost[at] = 0
	n := 1
	add := func(place string) error {
		if depth > maxDepth {
			return errors.New("it is nested too deeply")
		}
		more, err := w.checks(place, depth+1)
		if n += more; err == nil && n > maxChecks {
			err = errors.New("it checks every value against too many others")
		}
		return err
	}
	for _, key := range []string{"$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$recursiveAnchor"} {
		if _, isText := schema[key].(string); isText {
			return 0, fmt.Errorf("%s is not supported", key)
		}
	}
	if ref, isText := schema["$ref"].(string); isText {
		place, local := strings.CutPrefix(ref, "#")
		if !local || place != "" && place[0] != '/' {
			return 0, fmt.Errorf("the reference %.80q leads outside the schema; only references within it are followed", ref)
		}
		if err := add(place); err != nil {
			return 0, err
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for i, sub := range list {
			if _, isSchema := sub.(map[string]any); isSchema {
				if err := add(fmt.Sprintf("%s/%s/%d", at, key, i)); err != nil {
					return 0, err
				}
			}
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if _, isSchema := schema[key].(map[string]any); isSchema {
			if err := add(at + "/" + key); err != nil {
				return 0, err
			}
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		all, _ := schema[key].(map[string]any)
		for k, sub := range all {
			if _, isSchema := sub.(map[string]any); isSchema {
				if err := add(at + "/" + key + "/" + escaped.Replace(k)); err != nil {
					return 0, err
				}
			}
		}
	}
	w.cost[at] = n
	return n, nil
}

// at returns the object at a place.
func (w *referenceWalk) at(place string) (map[string]any, bool) {
	v := w.root
	if place != "" {
		for part := range strings.SplitSeq(place[1:], "/") {
			part = unescaped.Replace(part)
			switch in := v.(type) {
			case map[string]any:
				v = in[part]
			case []any:
				i, err := strconv.Atoi(part)
				if err != nil || i < 0 || i >= len(in) {
					return nil, false
				}
				v = in[i]
			default:
				return nil, false
			}
		}
	}
	m, ok := v.(map[string]any)
	if b, isBool := v.(bool); isBool && b {
		return map[string]any{}, true
	}
	return m, ok
}
