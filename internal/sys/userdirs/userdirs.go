// Package userdirs says where the user's own files of the server are: as the XDG base
// directories say on Linux, and in the system's own places on macOS and Windows. A
// variable of XDG that names an absolute directory counts everywhere.
package userdirs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// User is whose directories they are.
type User struct {
	System string // as Go names it
	Home   string // the home directory; "" is none
	Getenv func(string) string
}

// Here is the user of this process.
func Here() User {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = ""
	}
	return User{System: runtime.GOOS, Home: home, Getenv: os.Getenv}
}

// Kind is what a directory is for.
type Kind int

// These are the kinds.
const (
	Config Kind = iota // settings
	Data               // what the user has installed: plugins, kits
	State              // what the server remembers from one start to the next
	Cache              // what can be made again
)

// place is a directory on a system: name below the directory that a variable names, else
// below one of the home directory.
type place struct{ variable, home, name string }

// xdg are the places of the XDG base directories. Their variables count on every system.
var xdg = [...]place{
	Config: {"XDG_CONFIG_HOME", ".config", "sidecar"}, Data: {"XDG_DATA_HOME", ".local/share", "sidecar"},
	State: {"XDG_STATE_HOME", ".local/state", "sidecar-ls"}, Cache: {"XDG_CACHE_HOME", ".cache", "sidecar-ls"},
}

// places are those of systems that have their own.
var places = map[string][len(xdg)]place{
	"darwin": {
		Config: {"", "Library/Application Support", "sidecar"}, Data: {"", "Library/Application Support", "sidecar"},
		State: {"", "Library/Application Support", "sidecar-ls"}, Cache: {"", "Library/Caches", "sidecar-ls"},
	},
	"windows": {
		Config: {"APPDATA", "AppData/Roaming", "sidecar"}, Data: {"APPDATA", "AppData/Roaming", "sidecar"},
		State: {"LOCALAPPDATA", "AppData/Local", "sidecar-ls/state"}, Cache: {"LOCALAPPDATA", "AppData/Local", "sidecar-ls/cache"},
	},
}

// machine are the directories of the machine's settings by system; Windows names its own.
var machine = map[string]string{"darwin": "/Library/Application Support"}

// Machine is the directory of the settings that an administrator makes for all users. No
// variable of the environment moves it. "" where the system names none.
func Machine() string {
	base := machineBase()
	if base == "" {
		return ""
	}
	return filepath.Join(base, "sidecar")
}

// Dir is the directory of a kind. It fails where neither a variable nor a home directory
// says where it would be.
func (u User) Dir(k Kind) (string, error) {
	p := xdg[k]
	if dir := u.Getenv(p.variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, p.name), nil
	}
	if own, ok := places[u.System]; ok {
		p = own[k]
	}
	if dir := u.Getenv(p.variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, p.name), nil
	}
	if u.Home == "" {
		home := "HOME"
		if u.System == "windows" {
			home = "USERPROFILE"
		}
		return "", fmt.Errorf("there is no home directory; set %s, or %s to an absolute path", home, xdg[k].variable)
	}
	return filepath.Join(u.Home, p.home, p.name), nil
}
