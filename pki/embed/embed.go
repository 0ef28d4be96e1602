// Package embed asks an endpoint for the vectors of texts, and keeps and
// compares them.
package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Provider is how an endpoint is spoken to.
type Provider string

// The providers.
const (
	Ollama Provider = "ollama" // https://docs.ollama.com/api/embed
	OpenAI Provider = "openai" // https://platform.openai.com/docs/api-reference/embeddings, and whoever speaks like it
)

// Options are an endpoint and what is wanted of it.
type Options struct {
	Provider Provider
	URL      string        // "" is the provider's usual one
	Model    string        // "" is the provider's usual one
	Key      string        // "" sends none
	Timeout  time.Duration // of one request; 0 is a minute
}

// Use is what a text is embedded for; some models want to be told.
type Use int

// The uses.
const (
	Document Use = iota // to be found
	Query               // to find with
)

const (
	// MaxBatch is how many texts one request has.
	MaxBatch = 32
	// maxDimensions bounds a vector; models have 4,096 at most.
	maxDimensions = 8192
	// maxReply bounds an answer: a number takes about 20 bytes.
	maxReply = MaxBatch*maxDimensions*24 + 64<<10
)

// Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	o    Options
	url  string
	http *http.Client
}

// New checks the options.
func New(o Options) (*Client, error) {
	var base, model, path string
	switch o.Provider {
	case Ollama:
		base, model, path = "http://127.0.0.1:11434", "nomic-embed-text", "/api/embed"
	case OpenAI:
		base, model, path = "https://api.openai.com", "text-embedding-3-small", "/v1/embeddings"
	default:
		return nil, fmt.Errorf("%.50q is no provider of embeddings", o.Provider)
	}
	if o.URL != "" {
		base = o.URL
	}
	if o.Model == "" {
		o.Model = model
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("the address of the embeddings is not a URL") // whose text may have a password
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the address of the embeddings must begin with https:// or http://, not %.20q", u.Scheme)
	case u.User != nil:
		return nil, errors.New("the address of the embeddings must not have a password in it; there is a setting for the key")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address of the embeddings must have nothing behind its path")
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") + path
	return &Client{o: o, url: u.String(), http: newHTTP(u.Scheme == "http", o.Timeout)}, nil
}

// Model names the model.
func (c *Client) Model() string { return c.o.Model }

// Source tells apart what vectors are from: by provider, address and model.
func (c *Client) Source() string {
	sum := sha256.Sum256([]byte(string(c.o.Provider) + "\x00" + c.url + "\x00" + c.o.Model))
	return hex.EncodeToString(sum[:8])
}

// prompt is what stands before a text, for models that were made so.
func (c *Client) prompt(use Use) string {
	if !strings.HasPrefix(c.o.Model, "nomic-embed-text") {
		return ""
	}
	if use == Query {
		return "search_query: "
	}
	return "search_document: "
}

// request is one in either form.
type request struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Format   string   `json:"encoding_format,omitempty"` // of OpenAI
	Truncate bool     `json:"truncate,omitempty"`        // of Ollama: what is too long for the model
}

// reply is an answer in either form, good or bad.
type reply struct {
	Embeddings [][]float32 `json:"embeddings"` // Ollama
	Data       []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"` // OpenAI
	Error json.RawMessage `json:"error"` // a text, or an object with a message
}

// Embed returns one vector of length one for each text, MaxBatch at most. All
// have the same number of dimensions.
func (c *Client) Embed(ctx context.Context, use Use, texts []string) ([][]float32, error) {
	if len(texts) == 0 || len(texts) > MaxBatch {
		return nil, fmt.Errorf("%d texts at once, 1 to %d are possible", len(texts), MaxBatch)
	}
	r := request{Model: c.o.Model, Input: make([]string, len(texts))}
	for i, t := range texts {
		r.Input[i] = c.prompt(use) + t
	}
	if c.o.Provider == OpenAI {
		r.Format = "float"
	} else {
		r.Truncate = true
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	status, answer, err := c.post(ctx, body)
	if err != nil {
		return nil, err
	}
	var got reply
	if err := json.Unmarshal(answer, &got); err != nil {
		if status != http.StatusOK {
			return nil, fmt.Errorf("the endpoint answered %d %s", status, http.StatusText(status))
		}
		return nil, fmt.Errorf("the endpoint did not answer with embeddings: %.200v", err.Error())
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the endpoint answered %d: %s", status, got.failure())
	}
	vectors, err := got.vectors(len(texts))
	if err != nil {
		return nil, err
	}
	return vectors, unit(vectors)
}

func (c *Client) post(ctx context.Context, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return 0, nil, fmt.Errorf("the endpoint redirects (%d), which is not followed; set the address that it leads to", resp.StatusCode)
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil:
		return 0, nil, c.unreachable(ctx, err)
	case len(answer) > maxReply:
		return 0, nil, fmt.Errorf("the endpoint's answer is longer than %d MB", maxReply>>20)
	}
	return resp.StatusCode, answer, nil
}

// unreachable says why there is no answer, without what the request had.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var network net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return errors.New("the endpoint did not answer in time")
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("the endpoint can't be reached: %w", err)
}

// failure is what the endpoint says went wrong.
func (r *reply) failure() string {
	var text string
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Error, &text) != nil && json.Unmarshal(r.Error, &object) == nil {
		text = object.Message
	}
	if text == "" {
		text = "it does not say why"
	}
	return fmt.Sprintf("%.300s", text)
}

// vectors returns n vectors in the order of the texts.
func (r *reply) vectors(n int) ([][]float32, error) {
	list := r.Embeddings
	if len(r.Data) > 0 {
		if len(r.Data) > n {
			return nil, fmt.Errorf("the endpoint answered %d vectors for %d texts", len(r.Data), n)
		}
		list = make([][]float32, n)
		for i, d := range r.Data {
			if d.Index != nil {
				i = *d.Index
			}
			if i < 0 || i >= n || list[i] != nil {
				return nil, fmt.Errorf("the endpoint answered a vector for text %d of %d, or two for one", i, n)
			}
			list[i] = d.Embedding
		}
	}
	if len(list) != n {
		return nil, fmt.Errorf("the endpoint answered %d vectors for %d texts", len(list), n)
	}
	for i, v := range list {
		if len(v) == 0 || len(v) > maxDimensions || len(v) != len(list[0]) {
			return nil, fmt.Errorf("vector %d of the endpoint's answer has %d dimensions, the first one has %d", i+1, len(v), len(list[0]))
		}
	}
	return list, nil
}
