package lsp

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Error codes of JSON-RPC and LSP.
const (
	ParseError           = int64(jsonrpc2.ParseError)
	InvalidRequest       = int64(jsonrpc2.InvalidRequest)
	MethodNotFound       = int64(jsonrpc2.MethodNotFound)
	InvalidParams        = int64(jsonrpc2.InvalidParams)
	InternalError        = int64(jsonrpc2.InternalError)
	ServerNotInitialized = int64(jsonrpc2.ServerNotInitialized)
	RequestFailed        = int64(protocol.LSPErrorCodesRequestFailed)
	ServerCancelled      = int64(protocol.LSPErrorCodesServerCancelled)
	ContentModified      = int64(protocol.LSPErrorCodesContentModified)
	RequestCancelled     = int64(protocol.LSPErrorCodesRequestCancelled)
)

// Causes with which a request's context ends, and errors of Call and Notify.
var (
	ErrCancelled = errors.New("cancelled by the client")
	ErrPeerGone  = errors.New("the client is gone")
	ErrDropped   = errors.New("the client doesn't read; notification dropped")
)

// Error is a JSON-RPC error. A handler returns one to choose the code of the
// reply; Call returns one when the peer answered with an error.
type Error struct {
	Code    int64
	Message string
	Data    json.RawMessage

	// remote is the method whose reply this is. Such an error is never passed
	// on as our own: a client's "method not found" would read as ours.
	remote string
}

// Errorf makes an Error.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message, after the method when the peer sent it.
func (e *Error) Error() string {
	if e.remote != "" {
		return fmt.Sprintf("%s: %s (%d)", e.remote, e.Message, e.Code)
	}
	return e.Message
}
