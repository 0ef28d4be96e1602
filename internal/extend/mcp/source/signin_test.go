package source

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// issuer is an authorization server and the MCP server that it is for. It takes
// nothing that is not as the specifications have it.
type issuer struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	n         int
	clients   map[string]string            // redirect addresses, by client
	codes     map[string]map[string]string // what was asked for, by code
	access    map[string]string            // resources, by token
	refresh   map[string]string
	refreshed int
	faults    []string
	bend      func(what string, v map[string]any) // changes an answer
	expires   int                                 // seconds
	refuse    bool                                // to refresh
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, clients: map[string]string{}, codes: map[string]map[string]string{}, access: map[string]string{}, refresh: map[string]string{}, expires: 3600, bend: func(string, map[string]any) {}}
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return wordy() }, nil)
	mux := http.NewServeMux()
	say := func(what string, v map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { i.answer(w, what, v, http.StatusOK) }
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		i.mu.Lock()
		resource := i.access[token]
		i.mu.Unlock()
		if resource != i.URL+"/mcp" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+i.URL+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	})
	mux.HandleFunc("/register", i.register)
	mux.HandleFunc("/authorize", i.authorize)
	mux.HandleFunc("/token", i.token)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		i.CloseClientConnections()
		i.Close()
		for _, f := range i.faults {
			t.Error(f)
		}
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", say("resource", map[string]any{"resource": i.URL + "/mcp", "authorization_servers": []string{i.URL}}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", say("metadata", map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "registration_endpoint": i.URL + "/register",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
	}))
	return i
}

func (i *issuer) fault(format string, args ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

func (i *issuer) answer(w http.ResponseWriter, what string, v map[string]any, status int) {
	said := map[string]any{}
	for k, x := range v {
		said[k] = x
	}
	i.mu.Lock()
	bend := i.bend
	i.mu.Unlock()
	bend(what, said)
	if to, ok := said["redirect"].(string); ok {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}

func (i *issuer) next(what string) string {
	i.n++
	return fmt.Sprintf("%s-of-the-tests-%d", what, i.n)
}

func (i *issuer) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
		Type         string   `json:"application_type"`
	}
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &asked); err != nil || len(asked.RedirectURIs) != 1 || !strings.HasPrefix(asked.RedirectURIs[0], "http://127.0.0.1:") || asked.Type != "native" {
		i.fault("registered: %s", data)
	}
	i.mu.Lock()
	id := i.next("client")
	i.clients[id] = asked.RedirectURIs[0]
	i.mu.Unlock()
	i.answer(w, "registration", map[string]any{"client_id": id, "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none"}, http.StatusCreated)
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	redirect := i.clients[q.Get("client_id")]
	code := i.next("code")
	i.codes[code] = map[string]string{"client": q.Get("client_id"), "challenge": q.Get("code_challenge"), "redirect": redirect, "resource": q.Get("resource")}
	i.mu.Unlock()
	if q.Get("response_type") != "code" || redirect == "" || q.Get("redirect_uri") != redirect || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 20 || q.Get("resource") != i.URL+"/mcp" {
		i.fault("asked for a code with %s", r.URL)
	}
	back := map[string]any{"code": code, "state": q.Get("state"), "iss": i.URL}
	i.bend("code", back)
	values := url.Values{}
	for k, v := range back {
		values.Set(k, v.(string))
	}
	http.Redirect(w, r, redirect+"?"+values.Encode(), http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f := r.PostForm
	i.mu.Lock()
	defer i.mu.Unlock()
	switch f.Get("grant_type") {
	case "authorization_code":
		c := i.codes[f.Get("code")]
		delete(i.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if c == nil || c["client"] != f.Get("client_id") || c["redirect"] != f.Get("redirect_uri") || c["challenge"] != base64.RawURLEncoding.EncodeToString(sum[:]) || f.Get("resource") != c["resource"] {
			i.faults = append(i.faults, fmt.Sprintf("asked for a token with %v", f))
		}
	case "refresh_token":
		if _, ok := i.refresh[f.Get("refresh_token")]; !ok || f.Get("resource") != i.URL+"/mcp" || f.Get("client_id") == "" {
			i.faults = append(i.faults, fmt.Sprintf("refreshed with %v", f))
		}
		delete(i.refresh, f.Get("refresh_token")) // each is for once
		i.refreshed++
		if i.refuse {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
	default:
		i.faults = append(i.faults, fmt.Sprintf("asked for %v", f))
	}
	v := map[string]any{"access_token": i.next("access"), "refresh_token": i.next("refresh"), "token_type": "Bearer", "expires_in": i.expires, "aud": i.URL + "/mcp"}
	i.bend("token", v)
	i.access[v["access_token"].(string)] = v["aud"].(string)
	i.refresh[v["refresh_token"].(string)] = ""
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// browse is a person who signs in.
func browse(t *testing.T, status *int) func(context.Context, string) bool {
	return func(_ context.Context, address string) bool {
		res, err := http.Get(address)
		if err != nil {
			t.Error(err)
			return true
		}
		_ = res.Body.Close()
		if status != nil {
			*status = res.StatusCode
		}
		return true
	}
}

// TestSignIn: a person signs in, the token is kept and renewed, and is said to be a
// secret.
func TestSignIn(t *testing.T) {
	i := newIssuer(t)
	b := newBench(t, Server{Name: "web", URL: i.URL + "/mcp"}, stdio("good"))
	defer b.Close()
	if st := b.up("web"); st.State != SignIn || !strings.Contains(st.Error, "sidecar.mcp.signIn") || st.Tools != 0 {
		t.Fatalf("%+v", st)
	}
	st, address, err := b.SignIn(t.Context(), "web", browse(t, nil))
	if err != nil || st.State != Connected || st.Tools != 1 || address != "" {
		t.Fatalf("%+v, %q, %v", st, address, err)
	}
	if text, err := b.call(t.Context(), "mcp_web_say", `{"bytes":3}`); err != nil || text != "aaa" {
		t.Errorf("%q, %v", text, err)
	}
	b.mu.Lock()
	known := strings.Join(b.secrets, " ")
	b.mu.Unlock()
	if !strings.Contains(known, "access-of-the-tests-3") || !strings.Contains(known, "refresh-of-the-tests-4") {
		t.Errorf("not known as secrets: %s", known)
	}
	if st, err := b.Reconnect(t.Context(), "web"); err != nil || st.State != Connected || i.refreshed != 0 {
		t.Errorf("with what was kept: %+v, %v", st, err)
	}

	// A token that is about to expire is renewed.
	i.mu.Lock()
	i.expires = 5
	i.mu.Unlock()
	if st, _, err := b.SignIn(t.Context(), "web", browse(t, nil)); err != nil || st.State != Connected {
		t.Fatalf("%+v, %v", st, err)
	}
	i.mu.Lock()
	before := i.refreshed
	i.mu.Unlock()
	if text, err := b.call(t.Context(), "mcp_web_say", `{"bytes":3}`); err != nil || text != "aaa" || i.refreshed <= before {
		t.Errorf("%q, %v, renewed %d times", text, err, i.refreshed-before)
	}
	// Where that is refused, a person has to sign in again.
	i.mu.Lock()
	i.refuse = true
	i.mu.Unlock()
	if st, err := b.Reconnect(t.Context(), "web"); err != nil || st.State != SignIn {
		t.Errorf("%+v, %v", st, err)
	}
	k := b.o.Tokens.(*tokens)
	k.mu.Lock()
	for key, data := range k.all {
		if data != nil {
			t.Errorf("%s is kept: %s", key, data)
		}
	}
	k.mu.Unlock()
	i.mu.Lock()
	i.refuse, i.expires = false, 3600
	i.mu.Unlock()

	// Who can't open a page gets its address.
	st, address, err = b.SignIn(t.Context(), "web", func(context.Context, string) bool { return false })
	if err != nil || st.State != SignIn || !strings.HasPrefix(address, i.URL+"/authorize?") {
		t.Fatalf("%+v, %q, %v", st, address, err)
	}
	browse(t, nil)(t.Context(), address)
	for !slices.Contains(b.names(), "mcp_web_say") {
		<-b.change
	}
	if st := b.up("web"); st.State != Connected { // which it is after its tools are there
		t.Fatalf("%+v", st)
	}
	for name, code := range map[string]tools.Code{"good": tools.InvalidArguments, "nobody": tools.NotFound} {
		if _, _, err := b.SignIn(t.Context(), name, browse(t, nil)); codeOf(err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignInRefused: what is wrong with signing in ends it, and nothing is kept.
func TestSignInRefused(t *testing.T) {
	heard := false
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { heard = true; _, _ = io.WriteString(w, "{}") }))
	defer other.Close()
	set := func(on, key string, value any) func(string, map[string]any) {
		return func(what string, v map[string]any) {
			if what == on {
				v[key] = value
			}
		}
	}
	for name, c := range map[string]struct {
		bend   func(what string, v map[string]any)
		why    string
		status int // that the browser gets, if it gets that far
	}{
		"control":                       {func(string, map[string]any) {}, "", 200},
		"wrong state":                   {set("code", "state", "another"), "context canceled", 400},
		"no state":                      {set("code", "state", ""), "context canceled", 400},
		"answer of another issuer":      {set("code", "iss", "https://evil.example.org"), "issuer", 200},
		"answer of no issuer":           {set("code", "iss", ""), "iss", 200},
		"refused":                       {set("code", "error", "access_denied\x1b[31m"), "it was refused: access_denied", 200},
		"metadata of another issuer":    {set("metadata", "issuer", "https://evil.example.org"), "issuer", 0},
		"metadata of 10 MB":             {set("metadata", "padding", strings.Repeat("x", 10<<20)), "", 0},
		"a page that is a file":         {set("metadata", "authorization_endpoint", "file:///etc/passwd"), "", 0},
		"a page that is a program":      {set("metadata", "authorization_endpoint", "javascript:alert(1)"), "", 0},
		"a page without encryption":     {set("metadata", "authorization_endpoint", "http://evil.example.org/authorize"), "", 0},
		"tokens in a private network":   {set("metadata", "token_endpoint", "https://10.1.2.3/token"), "non-public address", 0},
		"tokens at the cloud's address": {set("metadata", "token_endpoint", "https://169.254.169.254/token"), "non-public address", 0},
		"no registration":               {set("metadata", "registration_endpoint", ""), "registration", 0},
		"registration redirected":       {set("registration", "redirect", other.URL), "", 0},
		"metadata redirected":           {set("metadata", "redirect", other.URL), "", 0},
		"no proof keys":                 {set("metadata", "code_challenge_methods_supported", nil), "", 0},
		"a token of another kind":       {set("token", "token_type", "mac"), "no bearer token", 200},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			i.bend = c.bend
			b := newBench(t, Server{Name: "web", URL: i.URL + "/mcp"})
			defer b.Close()
			b.up("web")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			status := 0
			st, _, err := b.SignIn(ctx, "web", func(ctx context.Context, address string) bool {
				browse(t, &status)(ctx, address)
				if status == http.StatusBadRequest {
					cancel() // it would wait for the right one
				}
				return true
			})
			if name == "control" {
				if err != nil || st.State != Connected {
					t.Fatalf("%+v, %v", st, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "\x1b") || status != c.status {
				t.Errorf("%+v, %v, status %d", st, err, status)
			}
			if data, _ := b.o.Tokens.Load(tokenKey(b.servers[0])); data != nil {
				t.Errorf("kept: %s", data)
			}
			if st := b.List()[0]; st.State != SignIn || st.Tools != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
	if heard {
		t.Error("another host heard of it")
	}
}

// TestTokenOfAnother: a token that is for another resource brings no loop, and a
// token goes to no other address than it was brought for.
func TestTokenOfAnother(t *testing.T) {
	i := newIssuer(t)
	i.bend = func(what string, v map[string]any) {
		if what == "token" {
			v["aud"] = "https://other.example.org"
		}
	}
	b := newBench(t, Server{Name: "web", URL: i.URL + "/mcp"})
	defer b.Close()
	b.up("web")
	if st, _, err := b.SignIn(t.Context(), "web", browse(t, nil)); err != nil || st.State != SignIn {
		t.Errorf("%+v, %v", st, err)
	}
	for _, s := range []Server{{Name: "web", URL: i.URL + "/other"}, {Name: "web2", URL: i.URL + "/mcp"}, {Name: "web", Root: "/b", URL: i.URL + "/mcp"}} {
		if tokenKey(s) == tokenKey(b.servers[0]) {
			t.Errorf("%+v gets its token", s)
		}
	}
	var mu sync.Mutex
	var sent []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = append(sent, r.Header.Get("Authorization"))
		mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer web.Close()
	own := newBench(t, Server{Name: "own", URL: web.URL, Headers: map[string]string{"authorization": "Bearer of-the-entry"}})
	defer own.Close()
	own.up("own")
	s, _ := own.find("own")
	<-s.ended
	if st := s.status(); st.State != Failed || strings.Join(sent, "") == "" || strings.Trim(strings.Join(sent, ""), "") != strings.Repeat("Bearer of-the-entry", len(sent)) {
		t.Errorf("an entry with a token of its own: %+v, %q", st, sent)
	}
}

// TestSignInGivenUp: whoever asked for it can give it up, and it ends with the server.
func TestSignInGivenUp(t *testing.T) {
	i := newIssuer(t)
	theirs := Server{Name: "theirs", URL: i.URL + "/mcp", Project: true}
	b := newBench(t, Server{Name: "web", URL: i.URL + "/mcp"}, theirs)
	b.up("web")
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := b.SignIn(ctx, "web", func(context.Context, string) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, _, err := b.SignIn(t.Context(), "theirs", browse(t, nil)); codeOf(err) != tools.Unavailable {
		t.Errorf("nobody trusts it: %v", err)
	}
	_, address, err := b.SignIn(t.Context(), "web", func(context.Context, string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(address)
	b.Close()
	if _, err := http.Get(u.Query().Get("redirect_uri")); err == nil { //nolint:bodyclose // nobody answers
		t.Error("it waits after its end")
	}
}

func TestReachable(t *testing.T) {
	for _, c := range []struct {
		at, own string
		want    bool
	}{
		{"93.184.216.34", "93.184.216.35", true}, {"93.184.216.34", "127.0.0.1", true}, {"127.0.0.1", "127.0.0.1", true}, {"127.0.0.1", "93.184.216.35", false}, {"10.0.0.1", "93.184.216.35", false},
		{"10.0.0.1", "192.168.1.1", true}, {"10.0.0.1", "127.0.0.1", false}, {"169.254.169.254", "10.0.0.1", false}, {"169.254.169.254", "127.0.0.1", false}, {"0.0.0.0", "127.0.0.1", false}, {"::1", "93.184.216.35", false},
		{"fd00::1", "93.184.216.35", false}, {"fe80::1", "fd00::1", false}, {"100.64.0.1", "93.184.216.35", false}, {"224.0.0.1", "93.184.216.35", false},
	} {
		if got := reachable(netip.MustParseAddr(c.at), netip.MustParseAddr(c.own)); got != c.want {
			t.Errorf("%s for %s: %v", c.at, c.own, got)
		}
	}
	if reachable(netip.MustParseAddr("127.0.0.1"), netip.Addr{}) {
		t.Error("for nobody")
	}
}

// TestUserTokens: they are kept for the user alone, in the keyring where there is
// one.
func TestUserTokens(t *testing.T) {
	for name, script := range map[string]string{
		"no keyring":         "",
		"a keyring":          "#!/bin/sh\nf=${0%/*}/kept\ncase $1 in store) cat > $f;; lookup) cat $f; echo;; clear) rm -f $f;; esac\n",
		"one that is locked": "#!/bin/sh\necho hush-hush >&2; exit 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			bin, home := t.TempDir(), t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", home)
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			if script != "" {
				if err := ownfile.WriteFile(bin+"/secret-tool", []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := NewUserTokens(anywhere.Programs()).Save("x-1", []byte(`{"Token":"t-4711"}`)); err != nil {
				t.Fatal(err)
			}
			data, err := NewUserTokens(anywhere.Programs()).Load("x-1")
			if err != nil || !strings.Contains(string(data), "t-4711") {
				t.Errorf("%s, %v", data, err)
			}
			file := config.Beside("mcp-tokens.json")
			text, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(text), "t-4711") == (name == "a keyring") {
				t.Errorf("%s, %v", text, err)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if data, err := NewUserTokens(anywhere.Programs()).Load("x-2"); err != nil || len(data) != 0 {
				t.Errorf("another: %s, %v", data, err)
			}
			if err := NewUserTokens(anywhere.Programs()).Save("x-1", nil); err != nil {
				t.Fatal(err)
			}
			if data, err := NewUserTokens(anywhere.Programs()).Load("x-1"); err != nil || len(data) != 0 {
				t.Errorf("after it was forgotten: %s, %v", data, err)
			}
		})
	}
}
