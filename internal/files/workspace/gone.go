package workspace

import (
	"context"
	"io/fs"
)

// Gone is the view of files that are not there any more: everything fails with
// why.
func Gone(why error) View { return gone{why} }

type gone struct{ why error }

func (g gone) Open(string) (fs.File, error)           { return nil, g.why }
func (g gone) Stat(string) (fs.FileInfo, error)       { return nil, g.why }
func (g gone) ReadFile(string) ([]byte, error)        { return nil, g.why }
func (g gone) ReadDir(string) ([]fs.DirEntry, error)  { return nil, g.why }
func (g gone) Resolve(string) (string, error)         { return "", g.why }
func (g gone) RealName(string) (string, error)        { return "", g.why }
func (g gone) Folding(string) Folding                 { return Folding{} }
func (g gone) Apply(context.Context, ...Change) error { return g.why }
func (g gone) Ignored(string, bool) bool              { return false }
func (g gone) Abs(string) string                      { return "" }
func (g gone) Base() (disk *Disk, over []string)      { return nil, nil }
func (g gone) Walk(context.Context, WalkOptions, func(*Entry) error) error {
	return g.why
}
