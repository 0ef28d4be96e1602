package touched_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/touched"
)

const before = `package p

// One does one thing.
func One() {
	a()
	b()
}

func (s *Server) Two() {
	c()
}

func Three() { d() }
`

func TestTouched(t *testing.T) {
	one, two, three, four := history.NameOf("", "One"), history.NameOf("Server", "Two"), history.NameOf("", "Three"), history.NameOf("", "Four")
	for _, c := range []struct {
		what     string
		old, now string
		want     []history.Name
	}{
		{"a line", "\ta()\n", "\tA()\n", []history.Name{one}},
		{"two lines of one", "\ta()\n\tb()\n", "\tA()\n\tB()\n", []history.Name{one}},
		{"two functions", "\tb()\n}\n\nfunc (s *Server) Two() {\n\tc()\n", "\tB()\n}\n\nfunc (s *Server) Two() {\n\tC()\n", []history.Name{one, two}},
		{"a new line", "\tc()\n", "\tc()\n\tc2()\n", []history.Name{two}},
		{"a line less", "\tb()\n", "", []history.Name{one}},
		{"a new function", "func Three", "func Four() {\n}\n\nfunc Three", []history.Name{four}},
		{"a function less", "func Three() { d() }\n", "", []history.Name{three}},
		{"what is outside of all", "package p", "package q", nil},
		{"nothing", "", "", nil},
	} {
		got := touched.Of(touched.Read("go", []byte(before)), touched.Read("go", []byte(strings.Replace(before, c.old, c.now, 1))))
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	python := "class A:\n    def run(self):\n        pass\n\n    def stop(self):\n        pass\n"
	got := touched.Of(touched.Read("python", []byte(python)), touched.Read("python", []byte(strings.Replace(python, "        pass\n\n", "        return\n\n", 1))))
	if want := history.NameOf("A", "run"); !slices.Equal(got, []history.Name{want}) {
		t.Errorf("python: %v, want %v", got, want)
	}
}

// TestTouchedIsBounded: of a change all over a file nothing is said, control:
// one a little smaller.
func TestTouchedIsBounded(t *testing.T) {
	for n, want := range map[int]int{30: 30, 31: 0} {
		var old, now strings.Builder
		for i := range n {
			fmt.Fprintf(&old, "func f%d() {\n\ta()\n}\n\n", i)
			fmt.Fprintf(&now, "func f%d() {\n\tb()\n}\n\n", i)
		}
		if got := touched.Of(touched.Read("go", []byte(old.String())), touched.Read("go", []byte(now.String()))); len(got) != want {
			t.Errorf("a change of %d functions touched %d", n, len(got))
		}
	}
}

// TestVersions: a version is read once for the changes before and after it, and
// what can't be looked at touches nothing.
func TestVersions(t *testing.T) {
	blobs := map[int]string{1: before, 2: strings.Replace(before, "a()", "A()", 1), 3: strings.Replace(before, "c()", "C()", 1), 5: strings.Repeat("x", touched.MaxText+1)}
	var read []int
	v := touched.Versions[int]{
		Language: func(path string) string {
			if strings.HasSuffix(path, ".go") {
				return "go"
			}
			return ""
		},
		Read: func(id int) ([]byte, error) {
			read = append(read, id)
			switch text, known := blobs[id]; {
			case known:
				return []byte(text), nil
			case id == 4:
				return nil, nil
			}
			return nil, errors.New("no such version")
		},
	}
	check := func(path string, old, now int, want ...history.Name) {
		t.Helper()
		if got, err := v.Touched(path, old, now); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, from %d to %d: %v, %v; want %v", path, old, now, got, err, want)
		}
	}
	check("a.go", 2, 3, history.NameOf("", "One"), history.NameOf("Server", "Two"))
	check("a.go", 1, 2, history.NameOf("", "One"))
	if !slices.Equal(read, []int{2, 3, 1}) {
		t.Errorf("it read %v", read)
	}
	check("a.txt", 1, 2)
	check("a.go", 4, 1)
	check("a.go", 1, 4)
	check("a.go", 1, 5)
	if _, err := v.Touched("a.go", 1, 6); err == nil || err.Error() != "no such version" {
		t.Errorf("a version that can't be read: %v", err)
	}
}
