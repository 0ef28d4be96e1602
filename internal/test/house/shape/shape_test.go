package shape_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/sidecar-ls/sidecar-ls/internal/test/house/shape"
)

// larger are the types that have more methods than MaxMethods, with their parts, and how many.
// Numbers go down only: a type that has lost some gets its new number here.
var larger = map[string]int{
	"internal/git/gitrepo.Repo":      136,
	"internal/box/world.world":       136,
	"shadow.Manager":                 116,
	"internal/files/workspace.Disk":  106,
	"internal/agents/loop.Agent":     83,
	"internal/app/cli.cli":           79,
	"pki/index.Index":                68,
	"internal/exec/confine.Confiner": 56,
	"internal/box/world.folderCopy":  56,
	"pki/treesitter.jsWalker":        45,
}

// TestShape bounds types: one with many methods is several that have no names yet.
func TestShape(t *testing.T) {
	types, err := shape.Read(os.DirFS("../../../.."))
	if err != nil || len(types) < 500 {
		t.Fatal(len(types), err)
	}
	check := func(what, name string, has, bound int, known map[string]int) {
		switch was, ok := known[name]; {
		case !ok && has > bound:
			t.Errorf("%s has %d %s, more than %d: part it by what its methods need", name, has, what, bound)
		case ok && has > was:
			t.Errorf("%s has %d %s, more than the %d that it had", name, has, what, was)
		case ok && has <= bound:
			t.Errorf("%s has no more than %d %s: take its row out", name, bound, what)
		case ok && has < was:
			t.Errorf("%s has %d %s: its row says %d", name, has, what, was)
		}
	}
	for name, has := range types {
		check("methods", name, has.All, shape.MaxMethods, larger)
		check("functions among its fields", name, has.Functions, shape.MaxFunctions, nil)
	}
	for name := range larger {
		if _, ok := types[name]; !ok {
			t.Errorf("there is no type %s: take its row out", name)
		}
	}
}

// TestRead: what points back counts, whatever file it is in; tests and other packages don't.
func TestRead(t *testing.T) {
	types, err := shape.Read(fstest.MapFS{
		"a/whole.go":      {Data: []byte("package a\ntype whole[T any] struct { p *part[T]; f func(); g, h func() }\nfunc (w *whole[T]) one() {}\nfunc (w whole[T]) two() {}\n")},
		"a/part.go":       {Data: []byte("package a\ntype part[T any] struct { w *whole[T]; n int }\nfunc (p *part[T]) three() {}\n")},
		"a/holder.go":     {Data: []byte("package a\ntype holder struct { w whole[int] }\nfunc (h holder) four() {}\n")},
		"a/whole_test.go": {Data: []byte("package a\nfunc (w *whole[T]) five() {}\n")},
		"b/part.go":       {Data: []byte("package b\ntype part struct { w *whole }\nfunc (p *part) six() {}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]shape.Type{
		"a.whole":  {Name: "a.whole", Own: 2, All: 3, Functions: 3},
		"a.part":   {Name: "a.part", Own: 1, All: 1}, // what it is a part of has more methods
		"a.holder": {Name: "a.holder", Own: 1, All: 1},
		"b.part":   {Name: "b.part", Own: 1, All: 1},
	} {
		if got := types[name]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
