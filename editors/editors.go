// Package editors holds the plug-ins that need no build, for those who have the
// program and not its repository.
package editors

import "embed"

// Neovim is the plug-in for Neovim, below nvim/lua.
//
//go:embed nvim/lua
var Neovim embed.FS
