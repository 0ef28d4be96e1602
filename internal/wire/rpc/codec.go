package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Text that isn't valid UTF-8 goes both ways with U+FFFD in the bad places:
// editors do send lone surrogates, and refusing the message would leave their
// document and ours different. Either is one UTF-16 unit.
var (
	decodeOptions = jsontext.AllowInvalidUTF8(true)
	encodeOptions = jsonv2.JoinOptions(
		jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true), // no second look at what we wrote ourselves
		jsonv2.Deterministic(true),
		jsonv1.OmitEmptyWithLegacySemantics(true), // omitempty also leaves out 0 and false
	)
)

// Unmarshal decodes JSON. Member names match exactly, a name that comes twice
// is an error, unknown members are ignored. Errors name the field.
func Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*json.RawMessage); ok {
		*raw = append((*raw)[:0], data...)
		return nil
	}
	err := jsonv2.Unmarshal(data, v, decodeOptions)
	if err == nil || jsonv2.Unmarshal(data, v, decodeOptions, EmptyObjects()) == nil {
		return nil
	}
	var semantic *jsonv2.SemanticError
	if !errors.As(err, &semantic) {
		return err
	}
	why := fmt.Sprintf("can't be a JSON %s", semantic.JSONKind)
	if semantic.Err != nil {
		why = semantic.Err.Error()
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", ".")
	if field == "" {
		return errors.New(why)
	}
	return fmt.Errorf("%s: %s", field, why)
}

// EmptyObjects takes an empty array for an object: that is how Lua writes an empty table. It
// is asked for when a text can't be decoded without.
func EmptyObjects() jsonv2.Options {
	return jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, v any) error {
		t := reflect.TypeOf(v).Elem()
		own := reflect.TypeOf(v).Implements(reflect.TypeFor[json.Unmarshaler]())
		if d.PeekKind() != '[' || own || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if raw.Compact() != nil || string(raw) != "[]" {
			return errors.New("an object is expected")
		}
		return nil
	}))
}

// Params decodes the parameters of a message. Absent ones leave v as it is; bad
// ones are an InvalidParams error that names the field.
func Params(params json.RawMessage, v any) error {
	if len(params) == 0 {
		return nil
	}
	if err := Unmarshal(params, v); err != nil {
		return Errorf(InvalidParams, "%s", err)
	}
	return nil
}

// Marshal encodes v. Nil slices and maps become empty ones, map keys are sorted,
// raw JSON goes through as it is.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	err := marshalTo(&buf, v)
	return buf.Bytes(), err
}

func marshalTo(to *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case nil:
		to.WriteString("null")
		return nil
	case json.RawMessage:
		if len(v) == 0 {
			v = json.RawMessage("null")
		}
		to.Write(v)
		return nil
	}
	return jsonv2.MarshalWrite(to, v, encodeOptions)
}
