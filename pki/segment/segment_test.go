package segment_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

const source = `package p

// Open reads the settings.
func (s *Store) Open(path string) error {
	return s.readFile(path, path)
}

func helper() {}
`

func built() *segment.Segment {
	b := segment.NewBuilder(true)
	src := []byte(source)
	b.Add(segment.File{Path: "dir/store.go", Hash: segment.Hash(src)}, src, scan.Units("go", src, nil), nil)
	b.Add(segment.File{Path: "other.bin", Flags: segment.Skipped}, nil, nil, nil)
	return b.Finish()
}

// where returns what the postings of a term say, by unit.
func where(s *segment.Segment, id terms.ID) map[string]byte {
	out := map[string]byte{}
	if p, ok := s.Postings(id); ok {
		p.Each(func(u uint32, w byte) bool {
			out[s.Qualified(u)] = w
			return true
		})
	}
	return out
}

func TestPostings(t *testing.T) {
	s := built()
	for what, c := range map[string]struct {
		id   terms.ID
		want map[string]byte
	}{
		"a name, as a whole":  {terms.Word("open"), map[string]byte{"Store.Open": segment.InName | segment.AsWhole | segment.InDoc}},
		"an owner":            {terms.Word("store"), map[string]byte{"Store.Open": segment.InOwner | segment.InHeader | segment.AsWhole, "store.go": segment.InName}},
		"a comment":           {terms.Word("setting"), map[string]byte{"Store.Open": segment.InDoc}},
		"a header and a body": {terms.Word("path"), map[string]byte{"Store.Open": segment.InHeader | segment.AsWhole | 2}},
		"part of a name":      {terms.Word("file"), map[string]byte{"Store.Open": 1}},
		"a whole name":        {terms.Whole("readFile"), map[string]byte{"Store.Open": 1 | segment.AsWhole}},
		"a directory":         {terms.Word("dir"), map[string]byte{"store.go": segment.InOwner | segment.AsWhole}},
		"a path alone":        {terms.Word("bin"), map[string]byte{"other.bin": segment.InName | segment.AsWhole}},
		"a keyword":           {terms.Word("error"), map[string]byte{"Store.Open": segment.InHeader | segment.AsWhole}},
		"nothing":             {terms.Word("nothing"), map[string]byte{}},
	} {
		got := where(s, c.id)
		for name, w := range got { // whole words of paths are marked in one place only
			if name == "store.go" {
				got[name] = w &^ segment.AsWhole
			}
		}
		for name, w := range c.want {
			if name == "store.go" {
				c.want[name] = w &^ segment.AsWhole
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestRead: places come in blocks as they do one by one, for every term there is.
func TestRead(t *testing.T) {
	for what, s := range map[string]*segment.Segment{"few": built(), "many": many(), "none": segment.NewBuilder(true).Finish()} {
		if _, ok := s.Postings(terms.Word("nowhere")); ok {
			t.Errorf("%s: what no file has is found", what)
		}
		far := 0
		for u := range s.Units {
			p, ok := s.Postings(terms.Whole(s.Name(uint32(u))))
			if !ok {
				t.Fatalf("%s: %s is not found", what, s.Name(uint32(u)))
			}
			var want, got []segment.Posting
			p.Each(func(unit uint32, where byte) bool {
				if n := len(want); n > 0 && unit-want[n-1].Unit() >= 0x80 {
					far++
				}
				want = append(want, segment.Posting(unit<<8|uint32(where)))
				return true
			})
			c, block := p.Cursor(), make([]segment.Posting, 1+u%5)
			for n := c.Read(block); n > 0; n = c.Read(block) {
				got = append(got, block[:n]...)
			}
			if !slices.Equal(got, want) || len(got) != int(p.Units) {
				t.Fatalf("%s: %s is at %v, want %v", what, s.Name(uint32(u)), got, want)
			}
		}
		if what == "many" && far == 0 {
			t.Error("no two places are far from each other")
		}
	}
}

// many is a segment with many terms, and some names that come again.
func many() *segment.Segment {
	b := segment.NewBuilder(false)
	for file := range 4 {
		var src []byte
		for i := range 800 {
			src = fmt.Appendf(src, "func Word%dEnd(x%d int) {}\n\nconst same%d = 1\n\n", i*(file+1), i*i, i%7)
		}
		b.Add(segment.File{Path: fmt.Sprintf("f%d.go", file)}, src, scan.Units("go", src, nil), nil)
	}
	return b.Finish()
}

func TestBearers(t *testing.T) {
	for what, s := range map[string]*segment.Segment{"few": built(), "many": many(), "none": segment.NewBuilder(true).Finish()} {
		want := map[string][]uint32{"store.go": nil, "Nowhere": nil, "": nil, "open": nil}
		for u := range s.Units {
			if s.Units[u].Kind() != segment.FileKind {
				name := s.Name(uint32(u))
				want[name] = append(want[name], uint32(u))
			}
		}
		for name, units := range want {
			var got []uint32
			s.Bearers(name, func(u uint32) bool {
				got = append(got, u)
				return true
			})
			if !slices.Equal(got, units) {
				t.Fatalf("%s: %q is borne by %v, want %v", what, name, got, units)
			}
			n := 0
			if s.Bearers(name, func(uint32) bool { n++; return false }); n != min(1, len(units)) {
				t.Fatalf("%s: %q comes %d times after the end", what, name, n)
			}
		}
	}
	if n := len(many().Units); n < 4*1000 {
		t.Errorf("the control has %d units", n)
	}
}

// Each of many terms is found, and none that is not there.
func TestPostingsOfMany(t *testing.T) {
	s := many()
	for i := range 100_000 {
		id := terms.Word(fmt.Sprintf("x%d", i))
		_, ok := s.Postings(id)
		if root := int(math.Sqrt(float64(i))); ok != (root*root == i && root < 800) {
			t.Fatalf("x%d: %v", i, ok)
		}
	}
}

func TestLengthClass(t *testing.T) {
	last := uint8(0)
	for n := range 1 << 17 {
		c := segment.LengthClass(n)
		if c < last || c >= segment.LengthClasses {
			t.Fatalf("%d has class %d after %d", n, c, last)
		}
		last = c
	}
	if got := segment.ClassLength(segment.LengthClass(1000)); got < 600 || got > 1600 {
		t.Errorf("1000 words are about %v", got)
	}
}

// aligned returns data at an address that Decode takes.
func aligned(data []byte) []byte { return slices.Concat(make([]byte, 0, len(data)+8), data) }

func TestCodec(t *testing.T) {
	s := built()
	data := s.Encode(nil)
	got, rest, err := segment.Decode(append(aligned(data), "12345678"...))
	if err != nil || string(rest) != "12345678" {
		t.Fatalf("rest %q, error %v", rest, err)
	}
	if diff := cmp.Diff(s.Files, got.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s.Units, got.Units, cmpopts.IgnoreUnexported(segment.Unit{})); diff != "" {
		t.Error(diff)
	}
	for _, w := range []string{"open", "store", "file", "bin"} {
		if diff := cmp.Diff(where(s, terms.Word(w)), where(got, terms.Word(w))); diff != "" {
			t.Errorf("%s: %s", w, diff)
		}
	}
}

// use does with a segment what a ranking does.
func use(s *segment.Segment) {
	for i := range s.Units {
		s.Bearers(s.Name(uint32(i)), func(uint32) bool { return true })
		_ = s.Qualified(uint32(i)) + string(s.Units[i].Kind()) + s.Files[s.Units[i].File].Path
	}
	for _, w := range []string{"open", "store", "file", "bin", "path"} {
		if p, ok := s.Postings(terms.Word(w)); ok {
			p.Each(func(u uint32, w byte) bool { _ = s.Forms[u]; return true })
		}
	}
}

// TestDamaged: a segment with a byte changed is refused or safe to use, and
// one that was cut is refused.
func TestDamaged(t *testing.T) {
	data := built().Encode(nil)
	refused := 0
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			bad := aligned(data)
			bad[i] ^= bit
			s, _, err := segment.Decode(bad)
			if err != nil {
				refused++
				continue
			}
			use(s)
		}
	}
	if refused < 100 {
		t.Errorf("only %d were refused", refused)
	}
	for n := range len(data) {
		if _, _, err := segment.Decode(aligned(data)[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken", n, len(data))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(built().Encode(nil))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if s, _, err := segment.Decode(aligned(data)); err == nil {
			use(s)
		}
	})
}

// TestMerge: what two segments say is what one made of their files says,
// without the files that hold no more.
func TestMerge(t *testing.T) {
	files := map[string]string{
		"a/one.go": source, "a/two.go": "package p\n\n// Close ends the store.\nfunc (s *Store) Close() {}\n",
		"b/three.py": "class Reader:\n    def open(self, path):\n        return path\n", "b/gone.go": "package p\n\nfunc Gone() { open() }\n",
	}
	make := func(names ...string) *segment.Segment {
		b := segment.NewBuilder(true)
		for _, name := range names {
			src := []byte(files[name])
			b.Add(segment.File{Path: name, Hash: segment.Hash(src)}, src, scan.Units(map[bool]string{true: "go", false: "python"}[name[len(name)-1] == 'o'], src, nil), nil)
		}
		return b.Finish()
	}
	want := make("a/one.go", "b/three.py", "a/two.go")
	got := segment.Merge([]segment.Source{
		{Segment: make("b/gone.go", "a/one.go", "b/three.py"), Dead: func(file uint32) bool { return file == 0 }},
		{Segment: make("a/two.go")},
	})
	if diff := cmp.Diff(want.Encode(nil), got.Encode(nil)); diff != "" {
		t.Errorf("they differ: %s", diff)
	}
	if all := segment.Merge([]segment.Source{{Segment: make("b/gone.go")}}); len(where(all, terms.Word("gone"))) == 0 {
		t.Error("what holds is gone, too") // the control
	}
	if none := segment.Merge(nil); len(none.Files) != 0 || none.Terms() != 0 {
		t.Errorf("%+v", none)
	}
}
