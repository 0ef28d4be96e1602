// Package rpc is one JSON-RPC 2.0 connection for all protocols that speak it. A
// connection reads messages, answers each request once, bounds what waits, and
// ends what waits for a peer that is gone.
//
// A Framing knows how messages lie in the stream and how strictly they are read:
// Headers as in LSP, Lines as in the Agent Client Protocol. Where protocols differ
// otherwise, Options has a value for it. A Handler gives the messages a meaning,
// and errors their words.
//
// With Headers, the body of a message is scanned with go.lsp.dev/jsonrpc2. Its read loop
// is not used: here notifications are handled in order while requests run beside each
// other.
//
// The peer is not trusted. A bad message does not end the connection: a request gets an
// error, a call whose reply is bad fails, and what is too long is skipped unread.
//
//	the connection   conn.go (Options: the bounds), request.go (admit, answer, cancel), call.go
//	the streams      headers.go, strict.go, lines.go, ahead.go, writer.go
//	messages         message.go, codec.go
package rpc
