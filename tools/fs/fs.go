// Package fs holds the tools that read and change files. They read through a
// view and return changes as data; they know neither modes nor who asks, and
// nothing here writes.
package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	iofs "io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps are what the tools of this family need besides the files.
type Deps struct {
	// Outline returns the symbols of a source file in the order of their lines.
	// nil means that outlines are unavailable. For a kind of file that it does
	// not know it returns no symbols and no error.
	Outline func(path string, src []byte) ([]Symbol, error)
}

// Symbol is a named part of a source file.
type Symbol struct {
	Name      string
	Kind      string // function, type, …
	Signature string // as written, on one line; may be ""
	Line      int    // counted from one
	EndLine   int    // inclusive
	Depth     int    // how many symbols it is inside of
}

// Tools returns the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{
		newReadFile(d),
		newWriteFile(),
		newAppendFile(),
		newEditFile(),
		newApplyPatch(),
		newDeleteFile(),
		newMoveFile(),
		newListDirectory(),
		newDiffText(),
	}
}

const category = "files"

// file is a text file of the view.
type file struct {
	name string
	data []byte // never nil
	text workspace.Text
}

// open reads the regular file that path names.
func open(ctx context.Context, c *tools.Call, given string) (name string, data []byte, err error) {
	if name, err = c.Files.Resolve(given); err != nil {
		return "", nil, err
	}
	data, err = read(ctx, c, name)
	return name, data, err
}

func read(ctx context.Context, c *tools.Call, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := c.Files.ReadFile(name)
	if err != nil {
		return nil, unreadable(ctx, c, name, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unreadable finds out why a file could not be read, in words that help.
func unreadable(ctx context.Context, c *tools.Call, name string, err error) error {
	info, statErr := c.Files.Stat(name)
	switch {
	case errors.Is(statErr, iofs.ErrNotExist):
		return notFound(ctx, c, name, false)
	case statErr != nil:
		return errors.Join(creatable(c, name), statErr)
	case info.IsDir():
		return tools.Errorf(tools.InvalidArguments, "%s is a directory; name a file, list_directory shows what is in it", name)
	}
	return err
}

// linkAt is where the link of that name leads; ok is false where there is none.
func linkAt(c *tools.Call, name string) (target string, ok bool) {
	n, err := workspace.NodeOf(c.Files, name)
	return n.Link, err == nil && n.Link != ""
}

// movedLink is what moves a link.
func movedLink(from, to, target string) []workspace.Change {
	return []workspace.Change{
		{Path: from, Before: []byte(target), BeforeLink: true},
		{Path: to, After: []byte(target), AfterLink: true},
	}
}

// mayLead fails where a link that is moved would lead to what is not for it, and does not yet.
func mayLead(from, to, target string) error {
	if workspace.LeadsOut(to, target) && !workspace.LeadsOut(from, target) {
		return tools.Errorf(tools.OutsideWorkspace, "%s is a link to %s, which from %s leads out of the workspace or to what is protected; choose another path", from, target, to)
	}
	return nil
}

// vacated reports whether a directory has no files, but for those that go.
func vacated(files workspace.Files, dir string, goes func(name string) bool) bool {
	entries, err := files.ReadDir(dir)
	if err != nil || dir == "." {
		return false
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() && !vacated(files, name, goes) || !e.IsDir() && (goes == nil || !goes(name)) {
			return false
		}
	}
	return true
}

// openText reads a text file.
func openText(ctx context.Context, c *tools.Call, given string) (file, error) {
	name, data, err := open(ctx, c, given)
	if err != nil {
		return file{}, err
	}
	text, err := decode(name, data)
	return file{name, data, text}, err
}

func decode(name string, data []byte) (workspace.Text, error) {
	text, err := workspace.ShareText(data) // nobody changes what was read
	if err != nil {
		return text, tools.Errorf(tools.BinaryFile, "%s is not text (%d bytes, %s); only text files can be read and edited", name, len(data), kindOf(data))
	}
	return text, nil
}

// kindOf names what a binary file begins like.
func kindOf(data []byte) string {
	for _, k := range [...]struct{ magic, name string }{
		{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF8", "a GIF image"}, {"RIFF", "a WebP image"}, {"%PDF", "a PDF, see pdf_read"},
		{"PK\x03\x04", "a zip archive"}, {"\x1f\x8b", "gzip data"}, {"\x7fELF", "an ELF program"}, {"MZ", "a Windows program"},
		{"\xca\xfe\xba\xbe", "a class file"}, {"\x00asm", "a WebAssembly module"}, {"SQLite format 3", "an SQLite database"},
	} {
		if strings.HasPrefix(string(data[:min(len(data), 16)]), k.magic) && (k.magic != "RIFF" || len(data) > 12 && string(data[8:12]) == "WEBP") {
			return k.name
		}
	}
	return "unknown type"
}

// saw notes that the caller was shown a file, or a part of it.
func saw(c *tools.Call, name string, data []byte, whole bool) {
	if c.Known == nil {
		return
	}
	if real, err := c.Files.RealName(name); err == nil {
		c.Known.Saw(real, data, whole)
	}
}

// asRead fails when a file that is to be replaced as a whole is not as the caller has read it.
func asRead(c *tools.Call, name string, now []byte) error {
	if c.Known == nil {
		return nil
	}
	real, err := c.Files.RealName(name)
	if err != nil {
		return err
	}
	was, changed := c.Known.Changed(real, now)
	if !changed {
		return nil
	}
	shown := ""
	if before, err := workspace.DecodeText(was); was != nil && err == nil {
		if after, err := workspace.DecodeText(now); err == nil {
			shown = ". What changed since:\n" + clipped(diff.Unified("a/"+name, "b/"+name, before.Body, after.Body, 2), maxDiff)
		}
	}
	return tools.Errorf(tools.Conflict, "%s has changed since you read it, and what was written since would be lost; read all of it again and redo the change%s", name, shown)
}

// hash is what read_file returns and expect_hash is compared with.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// unchangedSince fails when data is not what the caller has read.
func unchangedSince(name, expect string, data []byte) error {
	expect = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(expect)), "sha256:")
	if expect == "" || data != nil && expect == hash(data) {
		return nil
	}
	if data == nil {
		return tools.Errorf(tools.Conflict, "%s does not exist, so it is not as expect_hash says; leave expect_hash out to create it", name)
	}
	return tools.Errorf(tools.Conflict, "%s is not as expect_hash says; read it again and redo the change, without expect_hash if you were given none", name)
}

// How far the search for a missing file's namesakes goes.
const (
	maxNear  = 5
	nearTime = 500 * time.Millisecond
)

// notFound says that name does not exist and what may have been meant: a directory, or a file,
// where there are such.
func notFound(ctx context.Context, c *tools.Call, name string, dir bool) error {
	near := nearNames(c, name)
	near = append(near, namesakes(ctx, c, name)...)
	slices.Sort(near)
	near = slices.Compact(near)
	other := func(name string) bool {
		info, err := c.Files.Stat(name)
		return err == nil && info.IsDir() != dir
	}
	if meant := slices.DeleteFunc(slices.Clone(near), other); len(meant) > 0 {
		near = meant
	}
	near = near[:min(len(near), maxNear)]
	if len(near) == 0 {
		return tools.Errorf(tools.NotFound, "%s does not exist; check the path with list_directory or search_files", name)
	}
	return tools.Errorf(tools.NotFound, "%s does not exist; did you mean %s?", name, strings.Join(near, ", "))
}

// nearNames returns what is named like name in its directory, or like the part
// of it that does not exist in the directory that does.
func nearNames(c *tools.Call, name string) []string {
	dir, base := path.Dir(name), path.Base(name)
	for dir != "." {
		if _, err := c.Files.Stat(dir); err == nil {
			break
		}
		dir, base = path.Dir(dir), path.Base(dir)
	}
	entries, err := c.Files.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	stem := strings.TrimSuffix(base, path.Ext(base))
	var near []string
	for _, e := range entries {
		n := e.Name()
		names = append(names, n)
		if strings.EqualFold(strings.TrimSuffix(n, path.Ext(n)), stem) {
			near = append(near, n)
		}
	}
	near = append(near, tools.Near(base, names, 3)...)
	for i, n := range near {
		near[i] = path.Join(dir, n)
	}
	return near
}

// namesakes returns files elsewhere with the same base name.
func namesakes(ctx context.Context, c *tools.Call, name string) []string {
	ctx, cancel := context.WithTimeout(ctx, nearTime)
	defer cancel()
	base := path.Base(name)
	var mu sync.Mutex
	var found []string
	_ = c.Files.Walk(ctx, workspace.WalkOptions{Keep: func(n string, dir bool) bool {
		return dir || strings.EqualFold(path.Base(n), base)
	}}, func(e *workspace.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, e.Path)
		return nil
	})
	return found
}

// creatable fails when no file can be made at name.
func creatable(c *tools.Call, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := c.Files.Stat(dir)
		if err == nil && !info.IsDir() {
			return tools.Errorf(tools.InvalidArguments, "%s is a file, so %s can't be below it; choose another path", dir, name)
		}
		if err == nil {
			return nil
		}
		// What has no code of its own is a file further up in the path.
		if code := tools.AsError(err).Code; code != tools.NotFound && code != tools.Internal {
			return err
		}
	}
	return nil
}

var redacted = regexp.MustCompile(`\[REDACTED:[^\]\n]*\]?`)

// unredacted fails when text, to be written, holds a mark that a secret was
// hidden and the file does not have that very mark.
func unredacted(field, text, file string) error {
	if mark := hiddenIn(text, file); mark != "" {
		return tools.Errorf(tools.InvalidArguments, "%s: %s stands for a secret that was hidden from you and would overwrite it; change only the lines around it", field, mark)
	}
	return nil
}

// hiddenIn is the first mark in a text that a secret was hidden, and that the file does not
// have as such; "": there is none.
func hiddenIn(text, file string) string {
	for _, mark := range redacted.FindAllString(text, -1) {
		if !strings.Contains(file, mark) {
			return mark
		}
	}
	return ""
}
