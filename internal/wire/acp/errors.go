package acp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Error codes of JSON-RPC and of the protocol.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
	CodeAuthRequired   = -32000
	CodeNotFound       = -32002
	CodeVersion        = -32022
)

var (
	// ErrGone is the end of the connection; what ended it is in the text.
	ErrGone = errors.New("the agent is gone")
	// ErrBusy says that a session works on a prompt already.
	ErrBusy = errors.New("the agent works on a prompt of this session: wait for it or cancel it")
	// ErrTimeout says that the agent has not answered in time.
	ErrTimeout = errors.New("the agent has not answered in time: start it anew")
	// ErrUnsupported says that the agent has not offered what was asked of it.
	ErrUnsupported = errors.New("the agent doesn't offer this")
	// ErrVersion says that the agent speaks another version of the protocol.
	ErrVersion = errors.New("the agent speaks another version of the protocol")
)

// Causes with which the context of an agent's request ends.
var (
	errTurnCancelled = errors.New("the prompt was cancelled")
	errSessionClosed = errors.New("the session was closed")
)

// Error is a JSON-RPC error. A World returns one to choose the code of the
// answer; a call returns one when the agent answered with an error.
type Error rpc.Error

// Errorf makes an Error.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if detail := e.detail(); detail != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Message, detail, e.Code)
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// detail is the text in an error's data: agents put there what really happened,
// with "Internal error" as the message.
func (e *Error) detail() string {
	var text string
	if json.Unmarshal(e.Data, &text) == nil {
		return text
	}
	var data struct{ Details, Message string }
	_ = json.Unmarshal(e.Data, &data)
	if data.Details != "" {
		return data.Details
	}
	return data.Message
}

// Explain is the answer to a request that an error is to either side: nil for one of
// which only the side knows what it means.
func Explain(r *rpc.Request, err error) *Error {
	var own *Error
	var busy *rpc.BusyError
	var encode *rpc.EncodeError
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, rpc.ErrInUse):
		return Errorf(CodeInvalidRequest, "a request with the id %.100s is open: give each request an id of its own", r.ID)
	case errors.As(err, &busy):
		return Errorf(CodeInternal, "%d requests are open: wait for their answers before you send more", busy.Open)
	case errors.As(err, &encode):
		return Errorf(CodeInternal, "the answer can't be written: %s", encode.Err)
	}
	return nil
}
