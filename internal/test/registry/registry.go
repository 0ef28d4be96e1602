// Package registry plays registries of packages on loopback. Their names are hosts of
// example.org, which the setting sidecar.sandbox.network leads there: nothing of the Internet is
// asked.
package registry

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Server serves files by path: the first element is the name of the host, as far as its first
// full stop.
type Server struct {
	*httptest.Server

	mu    sync.Mutex
	files map[string][]byte
}

// New starts a server without files. Close ends it.
func New() *Server {
	s := &Server{files: map[string][]byte{}}
	s.Server = httptest.NewServer(s)
	return s
}

// Add serves a file, such as pypi/simple/six for the host pypi.example.org.
func (s *Server) Add(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = data
}

// Network is the setting by which hosts lead to the server, each after a question. They come
// without .example.org.
func (s *Server) Network(hosts ...string) (list []any) {
	list = []any{"ask"}
	for _, host := range hosts {
		list = append(list, map[string]any{"host": host + ".example.org", "private": true, "ask": true, "address": s.Listener.Addr().String()})
	}
	return list
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ".")
	name := host + strings.TrimSuffix(r.URL.Path, "/")
	s.mu.Lock()
	data, ok := s.files[name]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	switch {
	case strings.HasPrefix(name, "pypi/simple"):
		w.Header().Set("Content-Type", "text/html")
	case json.Valid(data):
		w.Header().Set("Content-Type", "application/json")
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	_, _ = w.Write(data)
}
