package index

import (
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

const (
	// maxSmall is how many segments of few files there may be.
	maxSmall = 64
	// small is how many files are few.
	small = 64
)

// tidy makes one segment of many small ones, and a new one of one that mostly
// holds no more, by reading the files again. x.follow is held.
func (x *Index) tidy() {
	x.mu.Lock()
	var again []string
	few := 0
	for _, p := range x.parts {
		if len(p.seg.Files)-p.gone < small {
			few++
		}
	}
	for _, p := range x.parts {
		mostlyGone := p.gone > small && p.gone*2 > len(p.seg.Files)
		if few > maxSmall && len(p.seg.Files)-p.gone < small || mostlyGone {
			for i := range p.seg.Files {
				if !p.isDead(uint32(i)) {
					again = append(again, p.seg.Files[i].Path)
				}
			}
		}
	}
	x.mu.Unlock()
	if len(again) == 0 {
		return
	}
	t := taker{x: x, in: NewIntake(x.o.Language), b: segment.NewBuilder(false)}
	for _, name := range again {
		info, err := x.o.Files.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue // the next look forgets it
		}
		now := stampOf(info.Size(), info.ModTime().UnixNano())
		var data []byte
		if now.size <= MaxSource {
			if data, err = x.o.Files.ReadFile(name); err != nil {
				continue
			}
		}
		t.in.Add(t.b, name, data, now.size)
		if t.stamps = append(t.stamps, now); t.b.Full() {
			t.finish()
		}
	}
	t.finish()
}
