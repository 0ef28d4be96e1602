package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// show is a value as it is quoted in a problem: short, with its type.
func show(v []byte) string {
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 'n':
		return "null"
	case '"':
		return "string " + Clip(string(v))
	case 't', 'f':
		return "boolean " + string(v)
	}
	return "number " + Clip(string(v))
}

// Clip shortens what is quoted from a call. It ends with a whole word, because
// the rest of a secret would not be known for one; of a word that is too long by
// itself only the beginning is shown.
func Clip(s string) string {
	const most, beginning = 60, 8 // bytes
	if len(s) <= most {
		return s
	}
	end := strings.LastIndexAny(s[:most], " \t\r\n") + 1
	if end == 0 {
		end = beginning
	}
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// syntaxText says where arguments stop to be JSON.
func syntaxText(args []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(args))
	_, err := d.ReadValue()
	if err == nil {
		return fmt.Sprintf("not valid JSON: there is more after the value that ends at byte %d", d.InputOffset())
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("not valid JSON: it ends at byte %d inside a value (perhaps the call was cut off); send the whole object", len(args))
	}
	var se *jsontext.SyntacticError
	if !errors.As(err, &se) {
		return "not valid JSON: " + err.Error()
	}
	line, column := position(args, int(se.ByteOffset))
	return fmt.Sprintf("not valid JSON at byte %d (line %d, column %d): %v", se.ByteOffset, line, column, se.Err)
}

// position counts from one, columns in bytes.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// decodeText is for what passed the check and the Go type still refuses.
func decodeText(err error) string {
	var se *jsonv2.SemanticError
	if !errors.As(err, &se) {
		return err.Error()
	}
	place := strings.ReplaceAll(strings.TrimPrefix(string(se.JSONPointer), "/"), "/", ".")
	text := "has a value that does not fit"
	if se.Err != nil {
		text = se.Err.Error()
	}
	if place == "" {
		return text
	}
	return place + ": " + text
}

// validationText is the place and the cause of what the schema library says,
// which is a chain of "validating <JSON pointer>: ".
func validationText(err error) string {
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	i := strings.LastIndex(text, "validating /")
	if i < 0 {
		return text
	}
	pointer, cause, _ := strings.Cut(strings.TrimPrefix(text[i:], "validating /"), ": ")
	for _, combination := range [...]string{"anyOf", "oneOf"} {
		if before, _, ok := strings.Cut(pointer, "/"+combination); ok {
			pointer, cause = before, "fits none of the forms that the schema allows ("+combination+")"
		}
	}
	place := strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(pointer, "/properties/", "/"), "properties/"), "/", ".")
	return place + ": " + cause
}
