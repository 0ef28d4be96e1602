package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/keyring"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// grant is what a person's signing in to a server has brought. It is kept where no
// project and no agent can read it, and is for one address alone.
type grant struct {
	Config   oauth2.Config
	Token    *oauth2.Token
	Resource string // that the token is for
}

// Tokens keeps grants, as JSON, by a key; nil data is none.
type Tokens interface {
	Load(key string) ([]byte, error)
	Save(key string, data []byte) error
}

// tokenKey is the key of a server's grant: another address is another server.
func tokenKey(s Server) string {
	sum := sha256.Sum256([]byte(s.Root + "\x00" + s.Name + "\x00" + s.URL))
	return s.Name + "-" + hex.EncodeToString(sum[:8])
}

// UserTokens keeps them in the system's keyring where there is one, else in a file
// of the user's, mode 0600.
type UserTokens struct {
	file     string
	programs *lookup.Finder // finds what asks the keyring
	mu       sync.Mutex
}

// NewUserTokens returns those of the user.
func NewUserTokens(programs *lookup.Finder) *UserTokens {
	return &UserTokens{programs: programs, file: config.Beside("mcp-tokens.json")}
}

// kept is where a grant is.
type kept struct {
	Keyring bool            `json:"keyring,omitempty"`
	Grant   json.RawMessage `json:"grant,omitempty"`
}

// Load implements Tokens.
func (u *UserTokens) Load(key string) ([]byte, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := map[string]kept{}
	if err := config.ReadBeside(u.file, &all); err != nil {
		return nil, fmt.Errorf("%s can't be read; remove it and sign in again: %w", u.file, err)
	}
	if all[key].Keyring {
		text, err := keyring.Get(u.programs, keyringService, key)
		return []byte(text), err
	}
	return all[key].Grant, nil
}

// Save implements Tokens.
func (u *UserTokens) Save(key string, data []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := map[string]kept{}
	if err := config.ReadBeside(u.file, &all); err != nil {
		return err
	}
	if data == nil {
		if all[key].Keyring {
			_ = keyring.Clear(u.programs, keyringService, key) // nobody finds it there any more
		}
		delete(all, key)
	} else {
		err := keyring.Set(u.programs, keyringService, key, string(data))
		all[key] = kept{Keyring: err == nil}
		if err != nil {
			all[key] = kept{Grant: data}
		}
	}
	return config.WriteBeside(u.file, all)
}

// keyringService is what grants are kept under in a keyring.
const keyringService = "sidecar-ls-mcp"

// session is a server's grant while it is used: refreshed, and kept again.
type session struct {
	s      *server
	cfg    Server
	client *http.Client

	mu   sync.Mutex
	read bool
	g    *grant
}

// errSignIn is why a server that wants a person to sign in is not connected.
var errSignIn = errors.New("it wants you to sign in: sidecar.mcp.signIn")

// token is what goes with a request; "" is none.
func (n *session) token(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.read {
		g, err := n.s.grantOf(n.cfg)
		if err != nil {
			return "", err
		}
		n.g, n.read = g, true
	}
	if n.g == nil || n.g.Token == nil {
		return "", nil
	}
	if n.g.Token.Valid() {
		return n.g.Token.AccessToken, nil
	}
	if n.g.Token.RefreshToken == "" {
		return "", nil // the server says that it wants another
	}
	fresh, err := n.g.refresh(ctx, n.client)
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < 500:
		n.g = nil
		return "", errors.Join(errSignIn, n.s.keep(n.cfg, nil))
	case err != nil:
		return "", fmt.Errorf("its token can't be renewed: %w", err)
	}
	n.g.Token = fresh
	if err := n.s.keep(n.cfg, n.g); err != nil {
		return "", err
	}
	return fresh.AccessToken, nil
}

// refresh gets another token, for the same resource.
func (g *grant) refresh(ctx context.Context, client *http.Client) (*oauth2.Token, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: &forResource{client.Transport, g.Resource}, CheckRedirect: client.CheckRedirect, Timeout: client.Timeout})
	old := *g.Token
	old.Expiry = time.Now().Add(-time.Hour)
	t, err := g.Config.TokenSource(ctx, &old).Token()
	if err == nil && !strings.EqualFold(t.Type(), "bearer") {
		err = errors.New("it is no bearer token")
	}
	return t, err
}

// forResource names the resource in requests for tokens, which the library does only
// for the first.
type forResource struct {
	next     http.RoundTripper
	resource string
}

func (f *forResource) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return f.next.RoundTrip(r)
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxMetadata))
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return nil, err
	}
	form.Set("resource", f.resource)
	body := form.Encode()
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return f.next.RoundTrip(r)
}

// grantOf is what is kept of a server; its secrets are known from then on.
func (s *server) grantOf(cfg Server) (*grant, error) {
	data, err := s.m.o.Tokens.Load(tokenKey(cfg))
	if err != nil || len(data) == 0 {
		return nil, err
	}
	g := &grant{}
	if err := json.Unmarshal(data, g); err != nil {
		return nil, fmt.Errorf("what was kept of signing in can't be read; sign in again: %w", err)
	}
	s.know(g)
	return g, nil
}

// keep keeps a grant; nil forgets it.
func (s *server) keep(cfg Server, g *grant) error {
	var data []byte
	if g != nil {
		s.know(g)
		var err error
		if data, err = json.Marshal(g); err != nil {
			return err
		}
	}
	if err := s.m.o.Tokens.Save(tokenKey(cfg), data); err != nil {
		return fmt.Errorf("what signing in has brought can't be kept: %w", err)
	}
	return nil
}

func (s *server) know(g *grant) {
	if g.Token != nil {
		s.m.o.Config.Know("mcp sign-in "+s.cfg.Name, []string{g.Token.AccessToken, g.Token.RefreshToken, g.Config.ClientSecret})
	}
}
