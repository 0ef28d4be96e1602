package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// TestNetwork: what the setting may be, as it is read and written again, and what is wrong
// with the others.
func TestNetwork(t *testing.T) {
	for name, c := range map[string]struct{ value, want, err string }{
		"nothing":          {"", `"ask"`, ""},
		"none":             {`"none"`, `"none"`, ""},
		"all":              {`"all"`, `"all"`, ""},
		"before: on":       {`true`, `"all"`, ""},
		"before: off":      {`false`, `"none"`, ""},
		"an empty list":    {`[]`, `"none"`, ""},
		"ask in a list":    {`["ask"]`, `"ask"`, ""},
		"hosts":            {`["ask", "Packages.Example.org.", "*.example.net", "example.com:8443"]`, `["ask","packages.example.org","*.example.net","example.com:8443"]`, ""},
		"an object":        {`[{"host": "git.corp:2222", "private": true, "uploads": true, "ask": true, "address": "10.0.0.1:22"}]`, `[{"host":"git.corp:2222","private":true,"address":"10.0.0.1:22","uploads":true,"ask":true}]`, ""},
		"this machine":     {`["localhost:5432"]`, `["localhost:5432"]`, ""},
		"an address":       {`["192.168.1.5:80", "[fd00::1]:443"]`, `["192.168.1.5:80","[fd00::1]:443"]`, ""},
		"a preset":         {`["maven"]`, `["repo.maven.apache.org","repo1.maven.org","plugins.gradle.org","services.gradle.org"]`, ""},
		"no word":          {`"some"`, `"ask"`, "must be none, ask, all or a list of hosts"},
		"a number":         {`1`, `"ask"`, "must be none, ask, all or a list of hosts"},
		"no preset":        {`["nmp"]`, `"none"`, `"nmp" is no preset (cargo, `},
		"all in a list":    {`["all", "example.org"]`, `["example.org"]`, `"all" can't be one of a list`},
		"a URL":            {`["https://example.org/x"]`, `"none"`, "leave out what stands before and behind it"},
		"localhost":        {`["localhost:"]`, `"none"`, "no port"},
		"an odd port":      {`["example.org:99999"]`, `"none"`, "no port"},
		"a space":          {`["a b.example.org"]`, `"none"`, "is no host"},
		"a star inside":    {`["a.*.org"]`, `"none"`, "is no host"},
		"an unknown field": {`[{"host": "example.org", "public": true}]`, `["example.org"]`, "public"},
		"no host":          {`[{"private": true}]`, `"none"`, "is no host"},
		"a bad address":    {`[{"host": "example.org", "address": "10.0.0.1"}]`, `"none"`, "address must be host:port"},
		"a relative place": {`[{"host": "example.org", "in": "x"}]`, `"none"`, "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(`{}`)
			if c.value != "" {
				data = []byte(`{"sandbox.network": ` + c.value + `}`)
			}
			s, problems := Load(Source{Origin: User, Data: data})
			got, err := json.Marshal(s.Network(nil))
			if err != nil || string(got) != c.want {
				t.Errorf("%s %v, want %s", got, err, c.want)
			}
			if (len(problems) > 0) != (c.err != "") || len(problems) > 0 && !strings.Contains(problems[0].String(), c.err) {
				t.Errorf("said %v, want %q", problems, c.err)
			}
		})
	}
}

// TestNetworkIn: a host that holds in a directory holds only there.
func TestNetworkIn(t *testing.T) {
	dir := t.TempDir()
	data, err := json.Marshal(map[string]any{"sandbox.network": []any{"a.example.org", map[string]any{"host": "b.example.org", "in": dir}}})
	if err != nil {
		t.Fatal(err)
	}
	s, problems := Load(Source{Origin: User, Data: data})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if here, elsewhere := len(s.Network([]string{dir}).Hosts), len(s.Network([]string{t.TempDir()}).Hosts); here != 2 || elsewhere != 1 {
		t.Errorf("%d hosts there, %d elsewhere", here, elsewhere)
	}
}

// TestTighterNetwork: none is stricter than a list, that than ask, and that than all.
func TestTighterNetwork(t *testing.T) {
	read := func(text string) hosts.Network {
		s, problems := Load(Source{Origin: User, Data: []byte(`{"sandbox.network": ` + text + `}`)})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return s.Network(nil)
	}
	for _, c := range []struct {
		have, want, got string
		refused         int
	}{
		{`"all"`, `"ask"`, `"ask"`, 0},
		{`"all"`, `["a.example.org"]`, `["a.example.org"]`, 0},
		{`"ask"`, `"all"`, `"ask"`, 1},
		{`"ask"`, `["a.example.org"]`, `["a.example.org"]`, 0},
		{`"ask"`, `"none"`, `"none"`, 0},
		{`"none"`, `"ask"`, `"none"`, 1},
		{`"none"`, `["a.example.org"]`, `"none"`, 1},
		{`["a.example.org"]`, `["a.example.org", "b.example.org"]`, `["a.example.org"]`, 1},
		{`["*.example.org"]`, `["a.example.org"]`, `["a.example.org"]`, 0},
		{`["a.example.org"]`, `["*.example.org"]`, `"none"`, 1},
		{`["a.example.org"]`, `[{"host": "a.example.org", "private": true}]`, `"none"`, 1},
		{`[{"host": "a.example.org", "ask": true}]`, `["a.example.org"]`, `"none"`, 1},
		{`["a.example.org"]`, `"ask"`, `["a.example.org"]`, 1},
		{`["a.example.org"]`, `["a.example.org:8443"]`, `"none"`, 1},
	} {
		got, refused := tighterNetwork(nil, read(c.have), read(c.want))
		text, err := json.Marshal(got)
		if err != nil || string(text) != c.got || len(refused) != c.refused {
			t.Errorf("%s by %s is %s %q, want %s", c.have, c.want, text, refused, c.got)
		}
	}
}

// TestPutHost: a host goes to the end of the list; where nothing was said, ask stays.
func TestPutHost(t *testing.T) {
	for name, c := range map[string]struct{ before, want, err string }{
		"nothing yet":   {`{}`, `["ask","a.example.org"]`, ""},
		"ask":           {`{"sandbox.network": "ask"}`, `["ask","a.example.org"]`, ""},
		"a list":        {`{"sandbox": {"network": ["b.example.org"]}}`, `["b.example.org","a.example.org"]`, ""},
		"there already": {`{"sandbox.network": ["a.example.org"]}`, "", ErrThere.Error()},
		"none":          {`{"sandbox.network": "none"}`, "", "where a host changes nothing"},
		"all":           {`{"sandbox.network": true}`, "", "where a host changes nothing"},
		"broken":        {`{"sandbox.network": [`, "", "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := putHost(Source{Origin: User, Data: []byte(c.before)}, hosts.Host{Name: "a.example.org"})
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v, want %q", err, c.err)
			}
			if err != nil {
				if c.err == ErrThere.Error() && !errors.Is(err, ErrThere) {
					t.Error(err)
				}
				return
			}
			s, problems := Load(Source{Origin: User, Data: out})
			got, err := json.Marshal(s.Network(nil))
			if err != nil || string(got) != c.want || len(problems) > 0 {
				t.Errorf("%s\n%s %v %v", out, got, err, problems)
			}
		})
	}
}
