package config

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// PutBackend writes a profile into the user's file, in the place of the one of that name, and
// puts it into use. The user's other profiles stay as they are written.
func PutBackend(b Backend) error {
	const key = "backend.profiles"
	src, err := UserSource()
	if err != nil {
		return err
	}
	one, err := json.Marshal(b)
	if err != nil {
		return err
	}
	all := elements(read(&src).entries[key].value)
	if i := slices.IndexFunc(all, func(v jsontext.Value) bool { return nameIn(v) == b.Name }); i >= 0 {
		all[i] = one
	} else {
		all = append(all, one)
	}
	var list bytes.Buffer
	for i, v := range all {
		list.WriteString(map[bool]string{true: "[", false: ","}[i == 0] + "\n    ")
		list.Write(v)
	}
	list.WriteString("\n  ]")
	if err := PutUser(key, list.Bytes()); err != nil {
		return err
	}
	name, err := json.Marshal(b.Name)
	if err != nil {
		return err
	}
	return PutUser("backend.profile", name)
}

func nameIn(v jsontext.Value) string {
	var p struct{ Name string }
	_ = json.Unmarshal(v, &p) // what is none has no name
	return p.Name
}
