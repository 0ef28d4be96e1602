// Package lsp is the wire of the Language Server Protocol: frames, JSON-RPC
// messages, one connection, text positions, and the LSP structs that the
// project uses. It knows no feature and no file: what a message means is its
// handler's business.
//
// The JSON-RPC envelope is scanned and written with go.lsp.dev/jsonrpc2, plain
// structs of the specification are go.lsp.dev/protocol's. The read loop is our
// own: document notifications have to be handled in order while requests run
// beside each other, and one bad message must not end the connection.
package lsp
