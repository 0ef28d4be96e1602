// Package editors holds the plug-ins that need no build, and the pages about editors, for
// those who have the program and not its repository.
package editors

import "embed"

// Neovim is the plug-in for Neovim, below nvim/lua, with its help file.
//
//go:embed nvim/lua nvim/doc
var Neovim embed.FS

// Pages are the README of each editor's directory.
//
//go:embed */README.md
var Pages embed.FS
