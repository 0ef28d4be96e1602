// Package search holds the tools that find files by name and lines by
// content. They see what the caller's view shows, unsaved and pending text
// included, because they reach files through its walk alone. It does not know
// where that text comes from, and starts no program.
package search

import (
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Tools returns the tools of this family.
func Tools() []*tools.Tool {
	return []*tools.Tool{searchFiles(), grep()}
}

//go:embed search_files.md
var searchFilesText string

//go:embed grep.md
var grepText string
