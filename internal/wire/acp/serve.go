package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// handlerOf returns what answers a method, or nil.
func handlerOf(w World, method string) func(*host, *request) (any, error) {
	switch {
	case method == "session/request_permission":
		return permission
	case method == "fs/read_text_file" && w.Files != nil:
		return readFile
	case method == "fs/write_text_file" && w.Files != nil:
		return writeFile
	case method == "elicitation/create" && w.Elicitor != nil:
		return elicit
	case w.Terminals == nil:
		return nil
	case method == "terminal/create":
		return createTerminal
	case method == "terminal/output":
		return terminalOutput
	case method == "terminal/wait_for_exit":
		return waitTerminal
	case method == "terminal/kill":
		return killTerminal
	case method == "terminal/release":
		return releaseTerminal
	}
	return nil
}

func params[T any](r *request) (T, error) {
	var p T
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return p, Errorf(CodeInvalidParams, "the parameters of %s can't be read: %s", r.Method, err)
	}
	return p, nil
}

func absolute(path string) error {
	if !filepath.IsAbs(path) {
		return Errorf(CodeInvalidParams, "%.200q is no absolute path: send the whole path", path)
	}
	return nil
}

func readFile(h *host, r *request) (any, error) {
	p, err := params[struct {
		Path        string
		Line, Limit *int
	}](r)
	if err != nil {
		return nil, err
	}
	if err := absolute(p.Path); err != nil {
		return nil, err
	}
	text, err := h.Files.ReadFile(r.ctx, r.session.ID, p.Path)
	if err != nil {
		return nil, err
	}
	return struct {
		Content string `json:"content"`
	}{cutLines(text, p.Line, p.Limit)}, nil
}

// cutLines returns limit lines from the line on that is counted from 1.
func cutLines(text string, line, limit *int) string {
	if line != nil {
		for n := *line; n > 1 && text != ""; n-- {
			_, rest, _ := strings.Cut(text, "\n")
			text = rest
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := *limit; n > 0 && end < len(text); n-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

func writeFile(h *host, r *request) (any, error) {
	p, err := params[struct {
		Path    string
		Content *string
	}](r)
	if err != nil {
		return nil, err
	}
	if err := absolute(p.Path); err != nil {
		return nil, err
	}
	if p.Content == nil {
		return nil, Errorf(CodeInvalidParams, "there is no content: an empty file has the content \"\"")
	}
	if err := h.Files.WriteFile(r.ctx, r.session.ID, p.Path, *p.Content); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

func permission(h *host, r *request) (any, error) {
	p, err := params[PermissionRequest](r)
	if err != nil {
		return nil, err
	}
	if p.Tool.ID == "" {
		return nil, Errorf(CodeInvalidParams, "the permission is for no tool call: toolCall.toolCallId is empty")
	}
	p.Raw = r.Params
	id, err := asked(h, r, "", func() (string, error) { return h.Host.Permission(r.ctx, p) })
	if errors.Is(err, context.Canceled) && r.ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		h.log.Warn("a permission was not asked for", "error", err)
	}
	outcome := map[string]string{"outcome": "cancelled"}
	if err == nil && slices.ContainsFunc(p.Options, func(o PermissionOption) bool { return id != "" && o.ID == id }) {
		outcome = map[string]string{"outcome": "selected", "optionId": id}
	}
	return map[string]any{"outcome": outcome}, nil
}

func elicit(h *host, r *request) (any, error) {
	p, err := params[ElicitRequest](r)
	if err != nil {
		return nil, err
	}
	if p.Mode != "form" && p.Mode != "url" {
		return nil, Errorf(CodeInvalidParams, "there is no mode %.100q: use form or url", p.Mode)
	}
	p.Raw = r.Params
	got, err := asked(h, r, Elicited{Action: "cancel"}, func() (Elicited, error) { return h.Elicitor.Elicit(r.ctx, p) })
	if err != nil {
		return nil, fmt.Errorf("asking: %w", err)
	}
	return got, nil
}
