// Package trust binds a user's trust in a folder to what the folder's files said
// then: its settings, its hooks with the programs that they run, its skills. It
// keeps that beside the user's settings, and shows what has changed since.
package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
)

// HookFiles are the files of a project that name hooks, in the member hooks.
func HookFiles() [2]string { return [2]string{claudeFile, ".sidecar/hooks.json"} }

const claudeFile = ".claude/settings.json"

// File is what a file says.
type File struct {
	Text string `json:"text,omitempty"` // of settings and hooks; of others only what can be shown
	Hash string `json:"hash"`
	Exec bool   `json:"exec,omitempty"` // its owner may run it

	// Hidden says that the text is not kept: it is too long, or none.
	Hidden bool `json:"hidden,omitempty"`

	Problem string `json:"-"` // why it can't be read
}

// same reports whether two files are one: a program that can't be run is another one.
func (f File) same(o File) bool { return f.Hash == o.Hash && f.Exec == o.Exec }

// unreadable is the hash of what can't be read, which is never what was trusted.
const unreadable = "unreadable"

// Content is what the files of a folder say that count once it is trusted, by
// their names relative to the folder.
type Content map[string]File

// Bounds of what is read.
const (
	maxShown   = 64 << 10 // of a program or a skill, so that a change can be shown
	maxProgram = 64 << 20
)

// Read reads the content of a folder as it is now.
func Read(dir string) Content {
	c := files(dir)
	for _, name := range c.programs(dir) {
		if _, known := c[name]; known {
			continue
		}
		if f, ok := program(dir, name); ok {
			c[name] = f
		}
	}
	real := realPath(dir)
	for _, s := range skills.OnDisk(dir) {
		name := s.Path
		if rel, err := filepath.Rel(real, s.Path); err == nil {
			name = rel
		}
		name = filepath.ToSlash(name)
		if _, known := c[name]; !known {
			c[name] = short(s.Text)
		}
	}
	return c
}

// files are the settings and hooks of a folder.
func files(dir string) Content {
	c := Content{}
	if data, err := config.ReadProjectFile(dir, config.ProjectFile); !errors.Is(err, fs.ErrNotExist) {
		c[config.ProjectFile] = file(data, err)
	}
	for _, name := range HookFiles() {
		data, err := config.ReadProjectFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if name == claudeFile && err == nil {
			if data = hooksPart(data); data == nil {
				continue
			}
		}
		c[name] = file(data, err)
	}
	return c
}

// file is a file of settings or hooks.
func file(data []byte, err error) File {
	if err != nil {
		return File{Hash: unreadable, Problem: err.Error()}
	}
	return File{Text: string(data), Hash: hash(data)}
}

// short is a file of which the text is kept only to be shown.
func short(text string) File {
	f := File{Hash: hash([]byte(text))}
	f.show(text, len(text) <= maxShown)
	return f
}

// show keeps a text, if it is one that can be shown. all: it is all of it.
func (f *File) show(text string, all bool) {
	if f.Hidden = !all || !utf8.ValidString(text) || strings.ContainsRune(text, 0); !f.Hidden {
		f.Text = text
	}
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hooksPart is what the settings of Claude Code say of hooks: the rest is not ours,
// and may change. nil is nothing.
func hooksPart(data []byte) []byte {
	var all struct {
		Hooks json.RawMessage `json:"hooks,omitempty"`
		Off   bool            `json:"disableAllHooks,omitempty"`
	}
	if json.Unmarshal(data, &all) != nil {
		return data
	}
	if len(all.Hooks) == 0 && !all.Off {
		return nil
	}
	part, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return data
	}
	return append(part, '\n')
}

// program reads a file that a hook may run. ok: there is one.
func program(dir, name string) (f File, ok bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return f, false
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	in, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no pipe makes anybody wait
	if errors.Is(err, fs.ErrNotExist) {
		return f, false
	}
	if err != nil {
		return File{Hash: unreadable}, true
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil && info.IsDir() {
		return f, false
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram {
		return File{Hash: unreadable}, true
	}
	sum := sha256.New()
	var text bytes.Buffer
	n, err := io.Copy(io.MultiWriter(sum, &head{&text}), io.LimitReader(in, maxProgram+1))
	if err != nil || n > maxProgram {
		return File{Hash: unreadable}, true
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	f.Exec = runtime.GOOS != "windows" && info.Mode()&0o100 != 0
	f.show(text.String(), n <= maxShown)
	return f, true
}

// head keeps the beginning of what is written.
type head struct{ *bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if room := maxShown - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// hash stands for all of the content.
func (c Content) hash() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%q %s %v\n", name, c[name].Hash, c[name].Exec)
	}
	return hash([]byte(b.String()))
}

func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
