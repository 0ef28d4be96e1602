package setup

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/editors"
)

// plugMark begins every file of a plug-in that setup writes. One that begins
// with it and says something else is of another version.
const plugMark = "-- Written by `sidecar-ls setup`, which also takes it out; what you change here is lost.\n"

// tagsMark is the same in a tags file, in which a line has three fields.
const tagsMark = "!_TAG_WRITTEN_BY\t`sidecar-ls setup`\t//\n"

// neovim is the plug-in as a package that Neovim loads by itself, so that no
// file of the user's has to be changed. Who sets it up in init.lua, with options,
// is left to that.
func neovim(e Env, _ Options) []file {
	dir := filepath.Join(e.xdg("XDG_DATA_HOME", ".local/share"), "nvim", "site", "pack", "sidecar", "start", "sidecar")
	options := "{}"
	if e.Command != "sidecar-ls" {
		options = fmt.Sprintf("{ cmd = { %q, 'serve' } }", e.Command)
	}
	out := []file{{
		path: filepath.Join(dir, "plugin", "sidecar.lua"), family: wholeFile,
		whole: plugMark + "if vim.fn.exists(':SidecarStart') == 0 then require('sidecar').setup " + options + " end\n",
	}}
	err := fs.WalkDir(editors.Neovim, "nvim", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(editors.Neovim, name)
		mark := plugMark
		if path.Base(name) == "tags" {
			mark = tagsMark
		}
		out = append(out, file{path: filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "nvim/"))), family: wholeFile, whole: mark + string(data)})
		return err
	})
	if err != nil {
		panic(err) // the program carries these files
	}
	return out
}

// plug is the change of a plug-in's file. What it says is not shown: it is ours.
func (c *Change) plug(text string) {
	c.after = []byte(text)
	name, before := c.Path, c.Path
	switch {
	case !c.existed:
		before = "/dev/null"
	case bytes.Equal(c.before, c.after):
		return
	case !isPlug(c.before):
		c.foreign = append(c.foreign, c.Path+" is there, and setup has not written it")
	}
	c.Diff = fmt.Sprintf("--- %s\n+++ %s\n(a file of the plug-in, %d lines)\n", before, name, strings.Count(text, "\n"))
}

// isPlug reports whether a text is a file of a plug-in that setup wrote.
func isPlug(text []byte) bool {
	return bytes.HasPrefix(text, []byte(plugMark)) || bytes.HasPrefix(text, []byte(tagsMark))
}
