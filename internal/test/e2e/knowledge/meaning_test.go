package knowledge_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestEmbeddings asks a server whose user has set an endpoint.
func TestEmbeddings(t *testing.T) {
	for provider, path := range map[string]string{"ollama": "/api/embed", "openai": "/v1/embeddings"} {
		t.Run(provider, func(t *testing.T) {
			e2e.Home(t)
			t.Setenv("TEST_EMBEDDINGS_KEY", "key-of-the-test-4711")
			s := embedserver.New(t, embedserver.How{Key: "key-of-the-test-4711"})
			e2e.UserSettings(t, e2e.Object{"knowledge.embeddings": e2e.Object{"provider": provider, "url": s.URL, "model": "m", "key": "${env:TEST_EMBEDDINGS_KEY}"}})
			dir := e2e.Project(t, map[string]string{"a.go": "package a\n\n// Halt ends it.\nfunc Halt() {}\n", ".env": "API=terminate\n", "b.go": "package a\n\nvar token = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"\n"})
			r := e2e.Connect(t, dir, fakeeditor.Options{Capabilities: e2e.Knowing()})
			if res := r.Tool("project_knowledge_search", e2e.Object{"query": "halt"}); !res.OK {
				t.Fatal(res.Content)
			}
			r.Indexed("all have vectors", func(s server.KnowledgeStatus) bool {
				return s.Ready && s.Parsed == 2 && s.Embeddings.State == "ready" && s.Embeddings.Embedded >= 4
			})
			if res := r.Tool("project_knowledge_search", e2e.Object{"query": "terminate"}); !res.OK || !strings.Contains(res.Content, "a.go:4-4\tfunction\tHalt") || !strings.Contains(res.Content, "\tvector\n") {
				t.Errorf("%+v", res)
			}
			// A buffer and a pending edit, as soon as their vectors are there.
			if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(dir, "c.go")), "go", "package a\n\nfunc Vehicle() { dial(\"AKIAIOSFODNN7EXAMPLQ\") }\n"); err != nil {
				t.Fatal(err)
			}
			if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(dir, ".env")), "", "API=terminate\nUNSAVED=automobile\n"); err != nil {
				t.Fatal(err)
			}
			r.Mode("review")
			if res := r.Tool("write_file", e2e.Object{"path": "d.go", "content": "package a\n\nfunc Download() {}\n"}); !res.OK {
				t.Fatalf("%+v", res)
			}
			late := time.Now().Add(2 * time.Minute)
			for question, want := range map[string]string{"automobile": "c.go:3-3\tfunction\tVehicle", "retrieve": "d.go:3-3\tfunction\tDownload"} {
				for found := false; !found; {
					res := r.Tool("project_knowledge_search", e2e.Object{"query": question, "max_graph_hits": 0})
					for line := range strings.Lines(res.Content) {
						found = found || strings.Contains(line, want) && strings.HasSuffix(line, "\tvector\n")
					}
					if time.Now().After(late) {
						t.Fatalf("%s: %+v", question, res)
					}
				}
			}
			all := ""
			for _, req := range s.Seen() {
				in := strings.Join(req.Input, "\n")
				if all += in; req.Path != path || req.Key != "key-of-the-test-4711" || req.Model != "m" || strings.Contains(in, "ghp_16") || strings.Contains(in, "API=") || strings.Contains(in, "AKIAIOSF") || strings.Contains(in, "UNSAVED") {
					t.Errorf("%+v", req)
				}
			}
			if !strings.Contains(all, `func Vehicle() { dial("[REDACTED:`) {
				t.Error("the buffer was not sent without its secret") // the control
			}
			s.Close()
			if res := r.Tool("project_knowledge_search", e2e.Object{"query": "halt"}); !res.OK || !strings.Contains(res.Content, "Halt") || !strings.Contains(res.Content, "By words alone") {
				t.Errorf("the endpoint is down: %+v", res)
			}
		})
	}
}

// TestEmbeddingsAreTheUsers: neither a project nor an editor's settings of it
// send its text anywhere.
func TestEmbeddingsAreTheUsers(t *testing.T) {
	e2e.Home(t)
	s := embedserver.New(t, embedserver.How{})
	set := e2e.Object{"provider": "ollama", "url": s.URL}
	data, err := json.Marshal(e2e.Object{"knowledge.embeddings": set})
	if err != nil {
		t.Fatal(err)
	}
	dir := e2e.Project(t, map[string]string{"a.go": "package a\n\nfunc Halt() {}\n", ".sidecar/settings.json": string(data)})
	r := e2e.Connect(t, dir, fakeeditor.Options{
		Capabilities: e2e.Knowing(), InitializationOptions: e2e.Object{"sidecar": e2e.Object{"knowledge": e2e.Object{"embeddings": set}, "workspace": e2e.Object{"trust": "trusted"}}},
	})
	if res := r.Tool("project_knowledge_search", e2e.Object{"query": "halt"}); !res.OK || strings.Contains(res.Content, "vector") {
		t.Errorf("%+v", res)
	}
	r.Indexed("it is parsed", func(s server.KnowledgeStatus) bool { return s.Parsed == 1 && s.Embeddings.State == "" })
	if seen := s.Seen(); len(seen) > 0 {
		t.Errorf("sent: %+v", seen)
	}
}
