package lsp

import (
	"errors"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// ShowMessageParams belongs to window/showMessage and window/logMessage.
type ShowMessageParams struct {
	Type    MessageType `json:"type"`
	Message string      `json:"message"`
}

// ShowMessageRequestParams belongs to window/showMessageRequest. The answer is
// one of Actions, or null when the person closed the question.
type ShowMessageRequestParams struct {
	Type    MessageType         `json:"type"`
	Message string              `json:"message"`
	Actions []MessageActionItem `json:"actions,omitempty"`
}

// MessageActionItem is a button.
type MessageActionItem struct {
	Title string `json:"title"`
}

// ShowDocumentParams belongs to window/showDocument.
type ShowDocumentParams struct {
	URI       URI    `json:"uri"`
	External  bool   `json:"external,omitzero"`
	TakeFocus bool   `json:"takeFocus,omitzero"`
	Selection *Range `json:"selection,omitempty"`
}

// ShowDocumentResult answers window/showDocument.
type ShowDocumentResult struct {
	Success bool `json:"success"`
}

// ProgressToken is a number or a string in its JSON form, so that tokens can be
// compared and are sent back as they came. The zero value is no token.
type ProgressToken string

// StringToken makes a token from a string.
func StringToken(s string) ProgressToken {
	data, err := rpc.Marshal(s)
	if err != nil {
		return ""
	}
	return ProgressToken(data)
}

// MarshalJSON writes the token as it came.
func (t ProgressToken) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return []byte(t), nil
}

// UnmarshalJSON takes a string, an integer or null.
func (t *ProgressToken) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = ""
		return nil
	}
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := Unmarshal(data, &s); err != nil {
			return err
		}
		*t = StringToken(s)
		return nil
	}
	if _, err := strconv.ParseInt(string(data), 10, 64); err != nil {
		return errors.New("a progress token is an integer or a string")
	}
	*t = ProgressToken(data)
	return nil
}

// WorkDoneProgressCreateParams belongs to window/workDoneProgress/create.
type WorkDoneProgressCreateParams struct {
	Token ProgressToken `json:"token"`
}

// WorkDoneProgressCancelParams belongs to window/workDoneProgress/cancel.
type WorkDoneProgressCancelParams struct {
	Token ProgressToken `json:"token"`
}

// ProgressParams belongs to $/progress; Value is one of the WorkDoneProgress
// structs when it is sent.
type ProgressParams struct {
	Token ProgressToken `json:"token"`
	Value any           `json:"value"`
}

// WorkDoneProgress is begin, report and end in one: Kind says which. A nil
// Percentage means unknown, which differs from 0.
type WorkDoneProgress struct {
	Kind        string  `json:"kind"` // begin, report or end
	Title       string  `json:"title,omitempty"`
	Cancellable bool    `json:"cancellable,omitzero"`
	Message     string  `json:"message,omitempty"`
	Percentage  *uint32 `json:"percentage,omitempty"`
}

// Kinds of WorkDoneProgress.
const (
	ProgressBegin  = "begin"
	ProgressReport = "report"
	ProgressEnd    = "end"
)
