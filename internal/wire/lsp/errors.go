package lsp

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"go.lsp.dev/protocol"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Error codes of JSON-RPC and LSP.
const (
	ParseError           = rpc.ParseError
	InvalidRequest       = rpc.InvalidRequest
	MethodNotFound       = rpc.MethodNotFound
	InvalidParams        = rpc.InvalidParams
	InternalError        = rpc.InternalError
	ServerNotInitialized = int64(protocol.ErrorCodesServerNotInitialized)
	RequestFailed        = int64(protocol.LSPErrorCodesRequestFailed)
	ServerCancelled      = int64(protocol.LSPErrorCodesServerCancelled)
	ContentModified      = int64(protocol.LSPErrorCodesContentModified)
	RequestCancelled     = int64(protocol.LSPErrorCodesRequestCancelled)
)

// Causes with which a request's context ends, and errors of Call and Notify.
var (
	ErrCancelled = rpc.ErrCancelled
	ErrPeerGone  = errors.New("the client is gone")
	ErrDropped   = rpc.ErrDropped
)

// Error is a JSON-RPC error. A handler returns one to choose the code of the
// reply; Call returns one when the peer answered with an error.
type Error = rpc.Error

// Errorf makes an Error.
func Errorf(code int64, format string, args ...any) *Error { return rpc.Errorf(code, format, args...) }

// Unmarshal decodes JSON as rpc.Unmarshal does.
func Unmarshal(data []byte, v any) error { return rpc.Unmarshal(data, v) }

// EmptyObjects is rpc.EmptyObjects.
func EmptyObjects() jsonv2.Options { return rpc.EmptyObjects() }

// Params decodes the parameters of a message. Absent ones leave v as it is; bad
// ones are an InvalidParams error that names the field.
func Params(params json.RawMessage, v any) error { return rpc.Params(params, v) }
