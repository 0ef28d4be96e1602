// Package search holds the tools that find files by name and lines by
// content. They see what the caller's view shows, unsaved and pending text
// included, because they reach files through its walk alone. It does not know
// where that text comes from, and starts no program.
package search

import (
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps is what the family needs from others.
type Deps struct {
	References *references.Finder // nil: there is no parser
	Knowledge  Knowledge          // nil: there is no index
	Index      *textindex.Index   // nil: every search reads all files
}

// Tools returns the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{searchFiles(d.Index), grep(d.Index), findReferences(d.References), projectKnowledgeSearch(d.Knowledge)}
}

//go:embed search_files.md
var searchFilesText string

//go:embed grep.md
var grepText string

//go:embed find_references.md
var findReferencesText string

//go:embed knowledge.md
var knowledgeText string
