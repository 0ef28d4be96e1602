package main

import "testing"

// TestBaselines: what ours is compared with finds something, too.
func TestBaselines(t *testing.T) {
	texts := []text{
		{"cache/clear.go", []byte("package cache\n\n// Clear drops every entry.\nfunc Clear() {}\n")},
		{"cache/keep.go", []byte("package cache\n\n// Keep adds an entry.\nfunc Keep() {}\n")},
	}
	const question = "drop every entry"
	if a := ask(flat(), indexed(texts), nil, question); len(a.Files) == 0 || a.Files[0] != "cache/clear.go" || len(bySymbols(a).Units) == 0 {
		t.Errorf("BM25: %+v", a)
	}
	if a := keywords(lower(texts), question); len(a.Files) == 0 || a.Files[0] != "cache/clear.go" {
		t.Errorf("words: %+v", a)
	}
}
