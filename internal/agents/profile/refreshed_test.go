package profile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestRefreshed: of a file of keys a program may give back the tokens that it refreshed, and
// nothing that somebody obeys.
func TestRefreshed(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{`{"claudeAiOauth":{"accessToken":"a","refreshToken":"r","expiresAt":1,"scopes":["x"]}}`, `{"claudeAiOauth":{"accessToken":"b","refreshToken":"s","expiresAt":2,"scopes":["x"]}}`, true},
		{`{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"a","account_id":"x"}}`, `{"OPENAI_API_KEY":null,"tokens":{"id_token":"j","access_token":"b","account_id":"x"},"last_refresh":"now"}`, true},
		{`{"access_token":"a","resource_url":"u","expiry_date":1}`, `{"access_token":"b","resource_url":"u","expiry_date":2}`, true},
		{`{"anthropic":{"type":"oauth","access":"a","refresh":"r","expires":1}}`, `{"anthropic":{"type":"oauth","access":"b","refresh":"s","expires":2}}`, true},
		{`[{"serverName":"s","token":{"accessToken":"a"},"updatedAt":1}]`, `[{"serverName":"s","token":{"accessToken":"b"},"updatedAt":2}]`, true},
		{`{"access_token":"a"}`, `{"access_token":"a"}`, true},

		{`{"access_token":"a","resource_url":"u"}`, `{"access_token":"a","resource_url":"evil"}`, false},
		{`{"access_token":"a"}`, `{"access_token":"a","resource_url":"evil"}`, false},
		{`{"a":{"type":"api","key":"k"}}`, `{"a":{"type":"wellknown","key":"k"}}`, false},
		{`{"a":{"type":"api","key":"k"}}`, `{"a":{"type":"api","key":"other"}}`, false},
		{`{"a":{"access":"k"}}`, `{"a":{"access":"k"},"b":{"access":"k"}}`, false},
		{`{"a":{"access":"k"}}`, `{"a":{"access":{"command":"evil"}}}`, false},
		{`{"a":{"access":{"x":1}}}`, `{"a":{"access":"k"}}`, false},
		{`{"a":{"access":"k"},"b":1}`, `{"a":{"access":"k"}}`, false},
		{`{"access":"k"}`, `{"access":["k"]}`, false},
		{`{"access":["k"]}`, `{"access":["k","l"]}`, false},
		{`{"access":"k"}`, `[]`, false},
		{`{"access":"k"}`, ``, false},
		{`{"access":"k"}`, `{"access":"k"} x`, false},
		{`no JSON`, `{"access":"k"}`, false},
	} {
		if got := refreshed([]byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%s to %s: %v", c.before, c.after, got)
		}
	}
}

// TestReturn: tokens come back to the user's file, and another text of it does not.
func TestReturn(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	k := Kept(t.TempDir())
	p := Profile{Name: "p", Keys: []string{"auth.json"}}
	theirs := filepath.Join(user, "auth.json")
	for after, want := range map[string]string{
		`{"access":"new","url":"u"}`: `{"access":"new","url":"u"}`,
		`{"access":"new","url":"x"}`: `{"access":"old","url":"u"}`,
		`evil`:                       `{"access":"old","url":"u"}`,
	} {
		if err := errors.Join(ownfile.WriteFile(theirs, []byte(`{"access":"old","url":"u"}`), 0o600), ownfile.Chtimes(theirs, time.Unix(1, 0), time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
		g, err := k.Grant(p)
		if err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(g.Home, "auth.json")
		if err := errors.Join(ownfile.WriteFile(own, []byte(after), 0o600), g.Return()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{theirs, own} {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("after %s, %s is %s, %v", after, name, got, err)
			}
		}
		if err := ownfile.Remove(own); err != nil {
			t.Fatal(err)
		}
	}
}
