// Package lsp is the wire of the Language Server Protocol: a connection of
// package rpc in the protocol's words, text positions, and the LSP structs that
// the project uses. It knows no feature and no file: what a message means is its
// handler's business. Plain structs of the specification are go.lsp.dev/protocol's.
package lsp
