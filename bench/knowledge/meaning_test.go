package main

import (
	"net/http"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

func TestMeaning(t *testing.T) {
	files := map[string][]byte{
		"a.go": []byte("package a\n\n// Paint gives the motor of the car a colour; the motor shines.\nfunc PaintMotor() {}\n"),
		"b.go": []byte("package a\n\n// Halt ends the work of the motor.\nfunc Halt() {}\n"),
	}
	seg := indexed([]text{{"a.go", files["a.go"]}, {"b.go", files["b.go"]}})
	s := embedserver.New(t, embedserver.How{})
	m, err := newMeaning(embed.Options{Provider: embed.Ollama, URL: s.URL, Model: "m"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	r := rank.New(rank.Default())
	const question = "terminate the motor"
	if a := ask(r, seg, nil, question); len(a.Units) < 2 || a.Units[0].Qual != "PaintMotor" {
		t.Fatalf("by words: %+v", a.Units) // the control
	}
	for range 2 {
		a, err := m.ask(t.Context(), r, seg, nil, files, question)
		if err != nil || len(a.Units) < 2 || a.Units[0].Qual != "Halt" {
			t.Errorf("with vectors: %+v, %v", a.Units, err)
		}
	}
	if n := len(s.Seen()); n != 3 {
		t.Errorf("%d requests: the vectors of a text are asked for once", n)
	}
	s.Set(func(h *embedserver.How) {
		h.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return true
		}
	})
	if a, err := m.ask(t.Context(), r, seg, nil, files, question); err == nil {
		t.Errorf("without its endpoint it answers %+v", a)
	}
	if _, err := newMeaning(embed.Options{Provider: "none"}, 1); err == nil {
		t.Error("a provider that does not exist is taken")
	}
}
