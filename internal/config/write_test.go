package config

import (
	"strings"
	"testing"
)

func TestPut(t *testing.T) {
	for name, c := range map[string]struct{ before, key, value, want, err string }{
		"nothing yet":           {"", "result.maxBytes", "2000", "{\n  \"result.maxBytes\": 2000\n}\n", ""},
		"null":                  {"null\n", "result.maxBytes", "2000", "{\n  \"result.maxBytes\": 2000\n}\n", ""},
		"an empty object":       {"{}", "result.maxBytes", "2000", "{\n  \"result.maxBytes\": 2000\n}", ""},
		"beside others":         {"{\n  \"mode\": \"review\"\n}\n", "result.maxBytes", "2000", "{\n  \"mode\": \"review\",\n  \"result.maxBytes\": 2000\n}\n", ""},
		"in its place":          {"{ \"result.maxBytes\" :  1000 , \"mode\":\"review\"}", "result.maxBytes", "2000", "{ \"result.maxBytes\" :  2000 , \"mode\":\"review\"}", ""},
		"nested":                {"{\"sidecar\":{\"result\":{\"maxBytes\":1000}}}", "result.maxBytes", "2000", "{\"sidecar\":{\"result\":{\"maxBytes\":2000}}}", ""},
		"with a mark":           {"\xef\xbb\xbf{\"result.maxBytes\":1000}", "result.maxBytes", "2000", "\xef\xbb\xbf{\"result.maxBytes\":2000}", ""},
		"a mode":                {"{\"mode\":\"review\"}", "mode", "\"manual\"", "{\"mode\":\"manual\"}", ""},
		"what it does not know": {"{\"future.thing\":[1,2],\"backend.extra\":1}", "result.maxBytes", "2000", "{\"future.thing\":[1,2],\"backend.extra\":1,\n  \"result.maxBytes\": 2000\n}", ""},
		"broken":                {"{\"mode\": ", "result.maxBytes", "2000", "", "not valid JSON"},
		"a list":                {"[1]", "result.maxBytes", "2000", "", "must be an object"},
		"no JSON":               {"{}", "result.maxBytes", "two", "", "not valid JSON"},
		"set to nothing":        {"{\"result.maxBytes\":1000}", "result.maxBytes", "null", "{\"result.maxBytes\":null}", ""},
		"by its old name":       {"{\"result.maxChars\":1000}", "result.maxBytes", "2000", "{\"result.maxChars\":1000,\n  \"result.maxBytes\": 2000\n}", ""},
		"its group is a text":   {"{\"result\":\"x\"}", "result.maxBytes", "2000", "{\"result\":\"x\",\n  \"result.maxBytes\": 2000\n}", ""},
	} {
		got, err := Put(Source{Origin: User, Data: []byte(c.before)}, c.key, []byte(c.value))
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.err)
		}
	}
}
