// Package embedserver is an endpoint of embeddings on this machine, which
// speaks as Ollama's and OpenAI's do. Its vectors know a few concepts, so that
// texts without a word in common can be close.
package embedserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is the endpoint.
type Server struct {
	*httptest.Server

	mu   sync.Mutex
	how  How
	seen []Request
}

// How says how a server answers.
type How struct {
	Model  string                                            // any other is not found; "" knows all
	Key    string                                            // the bearer token that it wants
	Dims   int                                               // of its vectors; 0 is 32
	Before func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	Hold   func(texts []string)                              // called with what came, before it is answered
}

// Request is one that came.
type Request struct {
	Path, Key, Model string
	Input            []string
}

// New starts a server, which ends with the test.
func New(t testing.TB, how How) *Server {
	s := &Server{how: how}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Set changes how it answers.
func (s *Server) Set(change func(*How)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.how)
}

// Seen are the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	how := s.how
	s.mu.Unlock()
	body, err := io.ReadAll(r.Body) // only then does the end of the connection end the request's context
	if err != nil {
		return
	}
	if how.Before != nil && how.Before(w, r) {
		return
	}
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &in) != nil || len(in.Input) == 0 {
		http.Error(w, `{"error":"bad request"}`, http.StatusBadRequest)
		return
	}
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.seen = append(s.seen, Request{r.URL.Path, key, in.Model, in.Input})
	s.mu.Unlock()
	if how.Hold != nil {
		how.Hold(in.Input)
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/embed":
		ollama(w, how, in.Model, in.Input)
	case "/v1/embeddings":
		openAI(w, how, key, in.Model, in.Input)
	default:
		http.NotFound(w, r)
	}
}

func ollama(w http.ResponseWriter, how How, model string, texts []string) {
	if how.Model != "" && model != how.Model {
		w.WriteHeader(http.StatusNotFound)
		answer(w, map[string]any{"error": `model "` + model + `" not found, try pulling it first`})
		return
	}
	var out [][]float32
	for _, text := range texts {
		out = append(out, vector(text, how.Dims))
	}
	answer(w, map[string]any{"model": model, "embeddings": out, "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8})
}

func openAI(w http.ResponseWriter, how How, key, model string, texts []string) {
	if key != how.Key {
		w.WriteHeader(http.StatusUnauthorized)
		answer(w, map[string]any{"error": map[string]any{"message": "Incorrect API key provided.", "type": "invalid_request_error", "param": nil, "code": "invalid_api_key"}})
		return
	}
	var data []any
	for i, text := range texts {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector(text, how.Dims)})
	}
	slices.Reverse(data) // the index counts, not the order
	answer(w, map[string]any{"object": "list", "data": data, "model": model, "usage": map[string]any{"prompt_tokens": 8, "total_tokens": 8}})
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) } // a client that is gone needs no answer

// vector has a dimension for each concept, and one for all other words.
func vector(text string, dims int) []float32 {
	if dims == 0 {
		dims = 32
	}
	v := make([]float32, dims)
	v[dims-1] = 0.2
	text = strings.ToLower(text)
	// Words that mean the same.
	for i, words := range [...][]string{{"halt", "stop", "cease", "terminate"}, {"car", "vehicle", "automobile"}, {"fetch", "download", "retrieve"}} {
		for _, w := range words {
			if strings.Contains(text, w) {
				v[i] = 1
			}
		}
	}
	return v
}
