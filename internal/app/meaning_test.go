package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// userSettings writes the user's own file.
func userSettings(t *testing.T, set object) {
	t.Helper()
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
	write(t, file, string(data))
	if err := ownfile.Chmod(file, 0o600); err != nil { // it may have a key
		t.Fatal(err)
	}
}

// knowing is an editor that is told how far the index is.
func knowing() *lsp.ClientCapabilities {
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Knowledge = true
	return can
}

// indexed waits until the server has told of such a status.
func (r *rig) indexed(what string, ok func(server.KnowledgeStatus) bool) {
	r.t.Helper()
	err := r.Await(r.t.Context(), what, func(rec *fakeeditor.Record) bool {
		for _, m := range rec.Notifications {
			var s server.KnowledgeStatus
			if m.Method == "sidecar/knowledge" && json.Unmarshal(m.Params, &s) == nil && ok(s) {
				return true
			}
		}
		return false
	})
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// TestEmbeddings asks a server whose user has set an endpoint.
func TestEmbeddings(t *testing.T) {
	for provider, path := range map[string]string{"ollama": "/api/embed", "openai": "/v1/embeddings"} {
		t.Run(provider, func(t *testing.T) {
			home(t)
			t.Setenv("TEST_EMBEDDINGS_KEY", "key-of-the-test-4711")
			s := embedserver.New(t, embedserver.How{Key: "key-of-the-test-4711"})
			userSettings(t, object{"knowledge.embeddings": object{"provider": provider, "url": s.URL, "model": "m", "key": "${env:TEST_EMBEDDINGS_KEY}"}})
			dir := project(t, map[string]string{"a.go": "package a\n\n// Halt ends it.\nfunc Halt() {}\n", ".env": "API=terminate\n", "b.go": "package a\n\nvar token = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"\n"})
			r := connect(t, dir, fakeeditor.Options{Capabilities: knowing()})
			if res := r.call("project_knowledge_search", object{"query": "halt"}); !res.OK {
				t.Fatal(res.Content)
			}
			r.indexed("all have vectors", func(s server.KnowledgeStatus) bool {
				return s.Ready && s.Parsed == 2 && s.Embeddings.State == "ready" && s.Embeddings.Embedded >= 4
			})
			if res := r.call("project_knowledge_search", object{"query": "terminate"}); !res.OK || !strings.Contains(res.Content, "a.go:4-4\tfunction\tHalt") || !strings.Contains(res.Content, "\tvector\n") {
				t.Errorf("%+v", res)
			}
			// A buffer and a pending edit, as soon as their vectors are there.
			if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(dir, "c.go")), "go", "package a\n\nfunc Vehicle() { dial(\"AKIAIOSFODNN7EXAMPLQ\") }\n"); err != nil {
				t.Fatal(err)
			}
			if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(dir, ".env")), "", "API=terminate\nUNSAVED=automobile\n"); err != nil {
				t.Fatal(err)
			}
			r.mode("review")
			if res := r.call("write_file", object{"path": "d.go", "content": "package a\n\nfunc Download() {}\n"}); !res.OK {
				t.Fatalf("%+v", res)
			}
			late := time.Now().Add(2 * time.Minute)
			for question, want := range map[string]string{"automobile": "c.go:3-3\tfunction\tVehicle", "retrieve": "d.go:3-3\tfunction\tDownload"} {
				for found := false; !found; {
					res := r.call("project_knowledge_search", object{"query": question, "max_graph_hits": 0})
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
			if res := r.call("project_knowledge_search", object{"query": "halt"}); !res.OK || !strings.Contains(res.Content, "Halt") || !strings.Contains(res.Content, "By words alone") {
				t.Errorf("the endpoint is down: %+v", res)
			}
		})
	}
}

// TestEmbeddingsAreTheUsers: neither a project nor an editor's settings of it
// send its text anywhere.
func TestEmbeddingsAreTheUsers(t *testing.T) {
	home(t)
	s := embedserver.New(t, embedserver.How{})
	set := object{"provider": "ollama", "url": s.URL}
	data, err := json.Marshal(object{"knowledge.embeddings": set})
	if err != nil {
		t.Fatal(err)
	}
	dir := project(t, map[string]string{"a.go": "package a\n\nfunc Halt() {}\n", ".sidecar/settings.json": string(data)})
	r := connect(t, dir, fakeeditor.Options{
		Capabilities: knowing(), InitializationOptions: object{"sidecar": object{"knowledge": object{"embeddings": set}, "workspace": object{"trust": "trusted"}}},
	})
	if res := r.call("project_knowledge_search", object{"query": "halt"}); !res.OK || strings.Contains(res.Content, "vector") {
		t.Errorf("%+v", res)
	}
	r.indexed("it is parsed", func(s server.KnowledgeStatus) bool { return s.Parsed == 1 && s.Embeddings.State == "" })
	if seen := s.Seen(); len(seen) > 0 {
		t.Errorf("sent: %+v", seen)
	}
}
