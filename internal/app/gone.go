package app

import (
	"context"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// gone is the view of files that are not there any more: everything fails
// with the reason.
type gone struct{ why error }

var _ workspace.View = gone{}

func (g gone) Open(string) (fs.File, error)                     { return nil, g.why }
func (g gone) Stat(string) (fs.FileInfo, error)                 { return nil, g.why }
func (g gone) ReadFile(string) ([]byte, error)                  { return nil, g.why }
func (g gone) ReadDir(string) ([]fs.DirEntry, error)            { return nil, g.why }
func (g gone) Resolve(string) (string, error)                   { return "", g.why }
func (g gone) RealName(string) (string, error)                  { return "", g.why }
func (g gone) Apply(context.Context, ...workspace.Change) error { return g.why }
func (g gone) Ignored(string, bool) bool                        { return false }
func (g gone) Abs(string) string                                { return "" }
func (g gone) Base() (disk *workspace.Disk, over []string)      { return nil, nil }
func (g gone) Walk(context.Context, workspace.WalkOptions, func(*workspace.Entry) error) error {
	return g.why
}
