package segment_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// numbered is a segment of n functions whose names nobody else has, and of one
// that every segment has.
func numbered(of, n int) *segment.Segment {
	src := []byte("func shared() {}\n")
	for i := range n {
		src = fmt.Appendf(src, "func f%d_%d() {}\n", of, i)
	}
	b := segment.NewBuilder(false)
	b.Add(segment.File{Path: "a.go"}, src, scan.Units("go", src, nil), nil)
	return b.Finish()
}

// TestDirectory: it never leaves out a segment that bears a name, mostly leaves
// out the others, and follows what comes and goes.
func TestDirectory(t *testing.T) {
	var segments []*segment.Segment
	for i := range 70 {
		segments = append(segments, numbered(i, 2000))
	}
	small := numbered(100, 10)
	check := func(what string, d *segment.Directory, now []*segment.Segment) {
		t.Helper()
		bits := d.Bits(now)
		wrong, asked := 0, 0
		for i, s := range now {
			for u := uint32(0); u < uint32(len(s.Units)); u += 97 {
				name := s.Name(u)
				without := d.Without(name)
				if s.Units[u].Kind() != segment.FileKind && without&bits[i] != 0 {
					t.Fatalf("%s: segment %d is left out, though it has %s", what, i, name)
				}
				for k := range now {
					if bits[k] != 0 && k != i && name != "shared" {
						if asked++; without&bits[k] == 0 {
							wrong++
						}
					}
				}
			}
		}
		if d != nil && (asked == 0 || wrong*5 > asked) {
			t.Errorf("%s: %d of %d segments without the name are not left out", what, wrong, asked)
		}
	}
	var d *segment.Directory
	if d = d.With(segments[:3]); d != nil {
		t.Error("a directory of three segments")
	}
	check("none", d, segments[:3])
	for _, c := range []struct {
		what     string
		from, to int
		bits     int
	}{{"some", 0, 20, 20}, {"more", 0, 40, 40}, {"others", 10, 60, 50}, {"too many", 0, 70, 64}, {"fewer", 60, 70, 10}} {
		now := append([]*segment.Segment{small}, segments[c.from:c.to]...)
		d = d.With(now)
		if n := len(d.Bits(now)) - count(d.Bits(now), 0); n != c.bits {
			t.Errorf("%s: %d are known, want %d", c.what, n, c.bits)
		}
		if seen := slices.Sorted(slices.Values(d.Bits(now))); len(slices.Compact(seen)) != c.bits+1 {
			t.Errorf("%s: two segments have one bit", c.what)
		}
		if d.With(now) != d {
			t.Errorf("%s: made again though nothing has changed", c.what)
		}
		check(c.what, d, now)
	}
	if d.With(segments[:2]) != nil {
		t.Error("a directory of two segments")
	}
}

// TestDirectoryKeepsNothing: a segment that nobody else has goes.
func TestDirectoryKeepsNothing(t *testing.T) {
	made := func() (*segment.Directory, weak.Pointer[segment.Segment]) {
		var segments []*segment.Segment
		for i := range 6 {
			segments = append(segments, numbered(i, 2000))
		}
		d := (*segment.Directory)(nil).With(segments)
		if bits := d.Bits(segments); bits[0] == 0 {
			t.Fatal("it does not know the segment")
		}
		return d, weak.Make(segments[0])
	}
	d, one := made()
	runtime.GC()
	if one.Value() != nil {
		t.Error("the segment is still there")
	}
	runtime.KeepAlive(d)
}

func count(list []uint64, v uint64) (n int) {
	for _, x := range list {
		if x == v {
			n++
		}
	}
	return n
}

func TestIsCommon(t *testing.T) {
	var src []byte
	for i := range segment.Common * 3 / 2 {
		src = fmt.Appendf(src, "func f%d(everywhere int) {}\n", i)
		if i == 5 {
			src = append(src, "func rare() {}\n"...)
		}
	}
	half := src[:len(src)/2]
	for what, c := range map[string]struct {
		src  []byte
		want bool
	}{"in many": {src, true}, "in half as many": {half, false}} {
		b := segment.NewBuilder(false)
		for i := 0; i < len(c.src); { // a file has not so many units
			end := min(len(c.src), i+100<<10)
			b.Add(segment.File{Path: fmt.Sprint(i, ".go")}, c.src[i:end], scan.Units("go", c.src[i:end], nil), nil)
			i = end
		}
		s := b.Finish()
		if got := s.IsCommon(terms.Whole("everywhere")); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
		if s.IsCommon(terms.Whole("rare")) || s.IsCommon(terms.Whole("nowhere")) {
			t.Errorf("%s: what is rare is common", what)
		}
	}
}
