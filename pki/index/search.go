package index

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// Query is a question and what its answer may be made of.
type Query struct {
	Text         string
	MaxHits      int
	MaxFiles     int
	Kinds        []pki.Kind    // nil: all
	Prefix       string        // of the paths; "" is everything
	Wait         time.Duration // how long to wait for the first look at the files
	GraphDepth   int
	MaxGraphHits int
}

// Hit is one unit of the answer.
type Hit struct {
	Path       string
	Start, End int // lines, counted from one
	Kind       pki.Kind
	Name       string // qualified
	Score      float32
	Exact      bool    // the question names it
	Via        *Via    // how the graph came to it; nil: by its words
	Lexical    bool    // its words fit
	Vector     bool    // its meaning fits
	Parsed     bool    // a parser has said where it begins and ends
	Overloads  []Lines // others of its name in the file, which count as one answer with it
}

// Lines are lines of a file, counted from one.
type Lines struct{ Start, End int }

// Via is an edge that led to a hit.
type Via struct {
	Relation string // a rank.Relation
	Hops     int
	From     string // qualified name of the hit that the walk began at
}

// File is a file of the answer.
type File struct {
	Path  string
	Score float32
}

// Answer is what is found.
type Answer struct {
	Hits   []Hit
	Graph  []Hit
	Files  []File
	Status Status

	// WordsAlone is how many files have text that is not on the disk and that has
	// not all its vectors yet, where the others were looked at by meaning too.
	WordsAlone int
}

// Search answers a question from what view shows. While the first look at the
// files is under way it answers from what is known so far.
func (x *Index) Search(ctx context.Context, view workspace.Files, q Query) (Answer, error) {
	x.refresh(ctx, q.Wait)
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	snap := x.snapshot(view)
	parts, disk, status := snap.parts, snap.disk, snap.status
	f := rank.Filter{}
	if q.Prefix != "" {
		f.File = func(name string) bool { return strings.HasPrefix(name, q.Prefix) }
	}
	if len(q.Kinds) > 0 {
		f.Kind = func(k pki.Kind) bool {
			for _, want := range q.Kinds {
				if k == want {
					return true
				}
			}
			return false
		}
	}
	question := x.ranker.Read(q.Text)
	const spare = 10 // for hits that turn out to be gone
	meant := x.closest(ctx, q.Text, view, snap, f)
	depth := q.MaxHits + spare
	if len(meant.near) > 0 {
		depth = max(depth, rank.Window)
	}
	project := rank.Project{Parts: parts, History: x.past.known.Load()}
	words, files := x.ranker.Search(question, project, f, depth, q.MaxFiles+spare)
	if len(words)+len(files) == 0 {
		words, files = x.ranker.Search(x.ranker.ReadAll(q.Text), project, f, depth, q.MaxFiles+spare)
	}
	found := rank.Blend(words, meant.similarity, meant.near, meant.weight)
	status.Meaning = x.meaning.now()
	a := Answer{Status: status}
	if len(meant.near) > 0 {
		a.WordsAlone = meant.without
	}
	allowed := readableIn(view)
	var kept []rank.Hit
	var shown []rank.Ref
	first := map[overload]int{} // its place in a.Hits
	for _, h := range found {
		hit := hitOf(parts, h.Ref)
		if at, ok := first[overloadOf(hit)]; ok {
			if o := &a.Hits[at].Overloads; len(*o) < maxOverloads {
				*o = append(*o, Lines{hit.Start, hit.End})
			}
			continue
		}
		if len(a.Hits) < q.MaxHits && allowed(hit.Path) {
			if callable(hit.Kind) {
				first[overloadOf(hit)] = len(a.Hits)
			}
			hit.Score, hit.Exact, hit.Lexical, hit.Vector = h.Score, h.Exact, h.Words, h.Vector
			a.Hits, kept, shown = append(a.Hits, hit), append(kept, h.Hit), append(shown, h.Ref)
		}
	}
	around := rank.Around{Text: textsOf(view, parts), Imports: x.linksOf(view, snap).of}
	if q.GraphDepth > 0 {
		around.Names = x.names(snap)
	}
	for _, r := range rank.Walk(parts, kept, f, q.GraphDepth, q.MaxGraphHits+spare, around) {
		if hit := hitOf(parts, r.Ref); len(a.Graph) < q.MaxGraphHits && allowed(hit.Path) {
			hit.Score, hit.Via = r.Score, &Via{string(r.Relation), r.Hops, hitOf(parts, r.From).Name}
			a.Graph, shown = append(a.Graph, hit), append(shown, r.Ref)
		}
	}
	for _, h := range files {
		if name := parts[h.Part].Files[h.File].Path; len(a.Files) < q.MaxFiles && allowed(name) {
			a.Files = append(a.Files, File{name, h.Score})
		}
	}
	x.want(view, parts, disk, shown)
	x.recall()
	return a, nil
}

// maxOverloads bounds the places that a hit names besides its own.
const maxOverloads = 20

// overload is what functions of one name in one place have in common: whoever
// looks for one wants all of them, and other answers beside them.
type overload struct {
	path, name string
	kind       pki.Kind
}

func overloadOf(h Hit) overload { return overload{h.Path, h.Name, h.Kind} }

func callable(k pki.Kind) bool { return k == pki.Function || k == pki.Method }

// names returns a directory of the large parts of the disk.
func (x *Index) names(snap snapshot) *segment.Directory {
	segments := make([]*segment.Segment, snap.disk)
	for i := range segments {
		segments[i] = snap.parts[i].Segment
	}
	before := x.directory.Load()
	d := before.With(segments)
	if d != before {
		x.directory.Store(d) // who comes at the same time may have another one, as good
	}
	return d
}

// readableIn reports whether a view still shows a file to its reader.
func readableIn(view workspace.Reader) func(name string) bool {
	known := map[string]bool{}
	return func(name string) bool {
		ok, asked := known[name]
		if !asked {
			info, err := view.Stat(name)
			ok = err == nil && info.Mode().IsRegular()
			known[name] = ok
		}
		return ok
	}
}

// textsOf returns what reads the source of a unit.
func textsOf(view workspace.Reader, parts []rank.Part) func(rank.Ref) []byte {
	files := map[string][]byte{}
	return func(r rank.Ref) []byte {
		u := &parts[r.Part].Units[r.Unit]
		name := parts[r.Part].Files[u.File].Path
		data, ok := files[name]
		if !ok {
			data, _ = view.ReadFile(name) // without its text a unit calls nothing
			files[name] = data
		}
		return lines(data, int(u.Start), int(u.End))
	}
}

// lines returns the lines from start to end, counted from one.
func lines(data []byte, start, end int) []byte {
	for n := 1; n < start; n++ {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil
		}
		data = data[i+1:]
	}
	rest := data
	for n := start; n <= end; n++ {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return data
		}
		rest = rest[i+1:]
	}
	return data[:len(data)-len(rest)]
}

func hitOf(parts []rank.Part, r rank.Ref) Hit {
	p := parts[r.Part]
	u := &p.Units[r.Unit]
	h := Hit{Path: p.Files[u.File].Path, Parsed: p.Files[u.File].Flags&segment.Refined != 0, Start: int(u.Start), End: int(u.End), Kind: u.Kind(), Name: p.Qualified(r.Unit)}
	if h.Kind == segment.FileKind {
		h.Name = path.Base(h.Path)
	}
	return h
}

// snapshot is the index as a view sees it.
type snapshot struct {
	parts  []rank.Part // of the disk, then of what lies over it
	disk   int         // how many are of the disk
	extra  []uint32    // those that no one gives vectors unless a question comes to them
	number map[*part]uint32
	over   map[string]uint32 // the parts of names that the view shows otherwise than the disk; hidden: none
	status Status
}

// hidden stands for the part of what a view does not show.
const hidden = ^uint32(0)

func (x *Index) snapshot(view workspace.Files) snapshot {
	over := x.views.over(x, view)
	x.mu.Lock()
	defer x.mu.Unlock()
	masked := map[*part]map[uint32]bool{}
	for name := range over {
		if at, ok := x.byPath[name]; ok {
			if masked[at.part] == nil {
				masked[at.part] = map[uint32]bool{}
			}
			masked[at.part][at.file] = true
		}
	}
	s := snapshot{
		parts: make([]rank.Part, 0, len(x.parts)+len(over)), disk: len(x.parts),
		number: make(map[*part]uint32, len(x.parts)), over: make(map[string]uint32, len(over)), status: x.statusLocked(),
	}
	for _, p := range x.parts {
		dead, mask := p.dead, masked[p]
		part := rank.Part{Segment: p.seg}
		if dead != nil || mask != nil {
			part.Dead = func(file uint32) bool {
				return dead != nil && dead[file/64]>>(file%64)&1 != 0 || mask[file]
			}
		}
		s.number[p] = uint32(len(s.parts))
		if x.o.Meaning == nil && !p.shared {
			s.extra = append(s.extra, uint32(len(s.parts)))
		}
		s.parts = append(s.parts, part)
	}
	for _, name := range slices.Sorted(maps.Keys(over)) {
		s.over[name] = hidden
		if seg := over[name]; seg != nil {
			s.over[name] = uint32(len(s.parts))
			s.extra = append(s.extra, uint32(len(s.parts)))
			s.parts = append(s.parts, rank.Part{Segment: seg})
		}
	}
	return s
}
