package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Code says why a call failed. The list is closed: clients branch on it.
type Code string

// The error codes of a tool result.
const (
	UnknownTool      Code = "unknown_tool"
	InvalidArguments Code = "invalid_arguments"
	Disabled         Code = "tools_disabled"
	Denied           Code = "denied"
	NotApproved      Code = "not_approved"
	OutsideWorkspace Code = "outside_workspace"
	ProtectedPath    Code = "protected_path"
	SensitivePath    Code = "sensitive_path"
	NotFound         Code = "not_found"
	AlreadyExists    Code = "already_exists"
	NoMatch          Code = "no_match"
	AmbiguousMatch   Code = "ambiguous_match"
	Conflict         Code = "conflict"
	BinaryFile       Code = "binary_file"
	TooLarge         Code = "too_large"
	CommandFailed    Code = "command_failed"
	TestsFailed      Code = "tests_failed"
	Timeout          Code = "timeout"
	Cancelled        Code = "cancelled"
	BudgetExceeded   Code = "budget_exceeded"
	DepthExceeded    Code = "depth_exceeded"
	Unavailable      Code = "unavailable"
	ExpiredCursor    Code = "expired_cursor"
	Internal         Code = "internal"
)

// Codes lists every error code.
var Codes = [...]Code{
	UnknownTool, InvalidArguments, Disabled, Denied, NotApproved, OutsideWorkspace, ProtectedPath, SensitivePath,
	NotFound, AlreadyExists, NoMatch, AmbiguousMatch, Conflict, BinaryFile, TooLarge, CommandFailed, TestsFailed,
	Timeout, Cancelled, BudgetExceeded, DepthExceeded, Unavailable, ExpiredCursor, Internal,
}

// Error is a failure that a model can act on: Message says what was wrong and
// what to do next.
type Error struct {
	Code       Code
	Message    string
	Detail     string // what the model reads after Message: of the tool's own, and from outside if the tool's text is
	Structured any    // optional data for the result

	Transient  bool          // the same call may work in a moment
	RetryAfter time.Duration // how long to wait at least before that, if it is known
}

// Class says what may come of calling again.
type Class int

// The classes of errors.
const (
	Permanent Class = iota // the same call fails again
	Transient              // it may work in a moment
	ByUser                 // a person or the settings said no, or gave up
)

// Class returns the class of e.
func (e *Error) Class() Class {
	switch e.Code {
	case Disabled, Denied, NotApproved, Cancelled:
		return ByUser
	}
	if e.Transient {
		return Transient
	}
	return Permanent
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError gives any error a code: an *Error is returned as it is, the errors
// of workspace, fs and context get theirs, all others are Internal.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	for _, c := range [...]struct {
		is   error
		code Code
		next string
	}{
		{context.Canceled, Cancelled, ""},
		{context.DeadlineExceeded, Timeout, ""},
		{workspace.ErrConflict, Conflict, "read the file again and redo the change"},
		{workspace.ErrInUse, Unavailable, "nothing was changed; tell the user, or try again later"},
		{workspace.ErrOutside, OutsideWorkspace, "use a path inside the workspace"},
		{workspace.ErrProtected, ProtectedPath, "leave it to the user to change this file"},
		{workspace.ErrSensitive, SensitivePath, "ask the user for what you need from it"},
		{workspace.ErrTooLarge, TooLarge, "no tool for files opens one of this size; leave it as it is, or ask the user for the part you need"},
		{workspace.ErrBinary, BinaryFile, "only text files can be read and edited"},
		{workspace.ErrSpecial, InvalidArguments, "name a regular file"},
		{fs.ErrNotExist, NotFound, "check the path with list_directory or search_files"},
		{syscall.ENOTDIR, NotFound, "a part of the path is a file; check it with list_directory"},
		{syscall.ENOSPC, Unavailable, "the disk is full; tell the user"},
		{syscall.EROFS, Unavailable, "the file system is read-only; tell the user"},
		{fs.ErrExist, AlreadyExists, "choose another path or edit the file that is there"},
		{fs.ErrInvalid, InvalidArguments, "give a workspace-relative path with / as separator"},
		{fs.ErrPermission, Denied, "the operating system refuses this file to the server"},
	} {
		if errors.Is(err, c.is) {
			msg := err.Error()
			var pe *fs.PathError
			if errors.As(err, &pe) && pe.Path == "" {
				msg = pe.Err.Error()
			} else if pe != nil {
				msg = fmt.Sprintf("%s: %v", pe.Path, pe.Err)
			}
			if c.next != "" {
				msg += "; " + c.next
			}
			return &Error{Code: c.code, Message: msg}
		}
	}
	return &Error{Code: Internal, Message: err.Error()}
}
