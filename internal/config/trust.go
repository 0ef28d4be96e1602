package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Whether a workspace is trusted an editor can say in its settings. For those
// who can't, and for agents without an editor, the user can say it of a folder
// once and for all. That is kept beside the user's settings.

// Trust is what the user said of folders: by folder, trusted or untrusted.
type Trust map[string]string

// TrustFile is where it is kept.
func TrustFile() string { return Beside("trust.json") }

// ReadTrust reads what the user said.
func ReadTrust() (Trust, error) {
	all := Trust{}
	return all, ReadBeside(TrustFile(), &all)
}

// Set notes what the user says of a folder: trusted, untrusted, or "" to
// forget it. It is kept until it is set again.
func (t Trust) Set(dir, word string) error {
	dir = realPath(dir)
	if t[dir] = word; word == "" {
		delete(t, dir)
	}
	return WriteBeside(TrustFile(), t)
}

// Of says what is known of a workspace with these folders: it is trusted when
// all of them are, and untrusted when one of them is. "" is nothing.
func (t Trust) Of(folders ...string) string {
	all := len(folders) > 0
	for _, dir := range folders {
		switch t[realPath(dir)] {
		case "untrusted":
			return "untrusted"
		case "trusted":
		default:
			all = false
		}
	}
	if all {
		return "trusted"
	}
	return ""
}

// TrustSource is what is known of the workspace as a source of settings. An
// editor that says something itself has the last word.
func TrustSource(folders []string) (Source, error) {
	src := Source{Origin: User, Name: TrustFile()}
	all, err := ReadTrust()
	if err != nil {
		return src, fmt.Errorf("%s can't be read, so nothing in it counts: %w", src.Name, err)
	}
	if trust := all.Of(folders...); trust != "" {
		src.Data, err = json.Marshal(map[string]string{"workspace.trust": trust})
	}
	return src, err
}

// realPath is a directory's name without symbolic links.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
