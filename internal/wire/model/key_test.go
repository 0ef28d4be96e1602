package model

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKeyForms: an error has no key in it, however the provider writes it; all else stays.
func TestKeyForms(t *testing.T) {
	const key = "sk-ant/4711+secret key?~"
	back := []byte(key)
	slices.Reverse(back)
	for name, quoted := range map[string]string{
		"itself": key, "base64": base64.StdEncoding.EncodeToString([]byte(key)), "for urls": base64.URLEncoding.EncodeToString([]byte(key)), "raw": base64.RawStdEncoding.EncodeToString([]byte(key)),
		"in a header": base64.StdEncoding.EncodeToString([]byte("Bearer " + key)), "for Basic": base64.StdEncoding.EncodeToString([]byte("user:" + key + ":x")), "after one": base64.StdEncoding.EncodeToString([]byte("x" + key)),
		"hex": hex.EncodeToString([]byte(key)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key))), "query": url.QueryEscape(key), "path": url.PathEscape(key), "query in lower case": strings.ToLower(url.QueryEscape(strings.ToLower(key))),
		"reversed": string(back), "reversed base64": base64.StdEncoding.EncodeToString(back),
	} {
		k := key
		if name == "query in lower case" {
			k = strings.ToLower(key)
		}
		got := withoutKey("before "+quoted+" after", k)
		if !strings.Contains(got, "[the key]") || strings.Contains(got, quoted) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q", name, got)
		}
	}
	const other = "the key c2VjcmV0 was not taken"
	if got := withoutKey(other, key); got != other {
		t.Errorf("the control: %q", got)
	}
	if got := withoutKey("a short one", "short"); got != "a [the key] one" {
		t.Errorf("a short one: %q", got)
	}
}

// TestEmpty: a stream of comments, or of events without a text, ends; one with pieces that
// come slowly does not.
func TestEmpty(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		for model, policy := range map[string]Policy{
			"comments": {Tries: 1, Empty: 50 * time.Millisecond}, "many comments": {Tries: 1},
		} {
			_, _, err := p.ask(t.Context(), wire, model, Request{}, func(c *Client) { c.Policy = policy })
			if f := FailureOf(err); f == nil || f.Cause != Quiet || !strings.Contains(f.Message, "nothing of an answer") {
				t.Errorf("%s ended by %v", model, err)
			}
			<-p.gone
		}
		if _, _, err := p.ask(t.Context(), wire, "text", Request{}, func(c *Client) { c.Policy = Policy{Tries: 1, Empty: time.Minute} }); err != nil {
			t.Errorf("the control ended by %v", err)
		}
	})
}
