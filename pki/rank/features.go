package rank

import (
	"math"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// What speaks for a unit, or against it. Most are shares, from 0 to 1; Of stands
// for the share of the question's words, weighed by how rare they are.
const (
	UnitWords       = iota // the score by its words and what its file lends, beside the best
	UnitOwn                // by its own words
	UnitFile               // its file's score
	UnitOf                 // Of in the unit
	UnitOfAll              // Of in the unit or the path
	UnitOfTitle            // of the title alone
	UnitOfName             // Of in the name
	UnitPrecise            // of the name's words, those that are in the question
	UnitOfHeader           // Of in the header
	UnitOfDoc              // Of in the comment
	UnitOfBody             // Of in the body
	UnitNames              // of the names that the question's words make side by side
	UnitLines              // how long it is, as logarithm
	UnitNth                // one part of how many there are of its file so far
	UnitNoCode             // no function
	UnitTest               // in a file of tests, which were not asked for
	UnitLanguage           // how much of the project is in files with this ending, as logarithm
	UnitSpecial            // a function that the language calls, or a test
	UnitScope              // what stands before the title's colon is in the path
	UnitTested             // the score of the tests that are named after its file
	UnitClass              // the score of the type that it belongs to
	UnitMember             // the best score of what belongs to it
	UnitUsed               // the scores of the candidates that use its name, as logarithm
	UnitAlike              // its file was changed by commits that are like the question
	UnitHome               // its file's score by the weights of files, beside the best, as odds
	UnitHomeNth            // the place of its file by that, as logarithm
	UnitScore              // the score by its words and what its file lends
	UnitOwnScore           // by its own words
	UnitFileScore          // its file's score by its own words
	UnitOwnNth             // its place in its file by its own words
	UnitMates              // how many candidates its file has, as logarithm
	UnitNamesakes          // how many candidates have its name
	UnitUses               // the scores of the candidates whose names it uses, as logarithm
	UnitTitleInName        // of the title, in the name
	UnitRarest             // how rare the rarest word in the name is, beside the question's rarest
	UnitParts              // how many words the name has
	UnitComment            // how long the comment is
	UnitAt                 // where it begins in its file, as logarithm
	UnitCount              // how many units its file has, as logarithm
	UnitFileTitle          // of the title, in its file
	UnitLately             // its file changed lately, as logarithm
	UnitYears              // its file changed in the last years, as logarithm
	UnitTitle              // how many words the title has
	UnitFileTold           // of the question, in what was said of changes of its file
	UnitFileLikest         // its file was changed by the commit that is most like the question
	UnitItAlike            // it was changed itself by commits that are like the question
	UnitItTold             // of the question, in what was said of changes of it
	UnitItLikest           // it was changed by the commit that is most like the question
	UnitItChanged          // how often it changed, as logarithm
	UnitItLately           // it changed lately, as logarithm
	UnitItYears            // it changed in the last years, as logarithm
	UnitItShare            // the same, beside its file
	UnitItLast             // how many days ago it changed last, as logarithm
	UnitPlace              // its place by UnitWords, as logarithm
	UnitDescribed          // how likely the question describes what code does
	Features
)

// What speaks for a file, or against it.
const (
	FileWords    = iota // the score by its words and what its units lend, beside the best
	FileOwn             // by its own words
	FileLent            // by what its units lend
	FileOf              // Of in the file or the path
	FileOfTitle         // of the title alone
	FileOfNames         // Of in the names of its units or the path
	FilePath            // of the title, in the path
	FileNames           // of the names that the question's words make side by side
	FileScope           // what stands before the title's colon is in the path
	FileUnits           // how many units it has, as logarithm
	FileLanguage        // how much of the project is in files with this ending, as logarithm
	FileTest            // of tests, which were not asked for
	FileTested          // the score of the tests that are named after it
	FileProse
	FileAside
	FileAlike  // it was changed by commits that are like the question
	FileLately // it changed lately, as logarithm
	FileYears  // it changed in the last years, as logarithm
	FileTold   // of the question, in what was said of its changes
	FileLikest // it was changed by the commit that is most like the question
)

// beside divides by what the best has.
func beside(v, best float32) float32 {
	if best <= 0 {
		return 0
	}
	return v / best
}

func log(v float32) float32 { return float32(math.Log1p(float64(v))) }

func one(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

func (s *second) judgeFiles() {
	words, own, lent := float32(0), float32(0), float32(0)
	languages := s.languages()
	tests := map[string]float32{}
	for i := range s.files {
		c := &s.files[i]
		words, own, lent = max(words, c.words), max(own, c.own), max(lent, c.lent)
		if f := &s.parts[c.Part].Files[c.ID]; f.Flags&segment.Test != 0 {
			tests[tested(f.Path)] = max(tests[tested(f.Path)], c.own)
		}
	}
	for i := range s.files {
		c := &s.files[i]
		f := &s.parts[c.Part].Files[c.ID]
		path := c.path.anywhere()
		all := c.in.anywhere() | path
		test := f.Flags&segment.Test != 0 && !s.q.Tests
		did := s.pastOfFile(c.ref())
		c.Features = [Features]float32{
			FileWords:    beside(c.words, words),
			FileOwn:      beside(c.own, own),
			FileLent:     beside(c.lent, lent),
			FileOf:       s.share(all, s.words),
			FileOfTitle:  s.share(all, s.title),
			FileOfNames:  s.share(c.in.name|path, s.words),
			FilePath:     s.share(path, s.title),
			FileNames:    s.share(all, s.names),
			FileScope:    s.share(path, s.scope),
			FileUnits:    log(float32(f.Count)) / 5,
			FileLanguage: languages(f.Path),
			FileTest:     one(test),
			FileProse:    one(f.Flags&segment.Prose != 0),
			FileAside:    one(f.Flags&segment.Aside != 0),
			FileAlike:    did.Share,
			FileLately:   log(did.Lately),
			FileYears:    log(did.Years),
			FileTold:     did.Words,
			FileLikest:   did.Best,
		}
		if !test {
			c.Features[FileTested] = beside(tests[stem(f.Path)], own)
		}
	}
}

func (s *second) judgeUnits() {
	words, own, ofFile := float32(0), float32(0), float32(0)
	languages := s.languages()
	for i := range s.units {
		words, own = max(words, s.units[i].words), max(own, s.units[i].own)
	}
	for i := range s.files {
		ofFile = max(ofFile, s.files[i].words)
	}
	count := map[Ref]float32{}
	namesakes, home := map[string]float32{}, s.homes()
	for i := range s.units {
		namesakes[s.name(&s.units[i])]++
	}
	for i := range s.units {
		c := &s.units[i]
		p := s.parts[c.Part]
		u := &p.Units[c.ID]
		f := &p.Files[u.File]
		name := s.name(c)
		all := c.in.anywhere()
		file := Ref{c.Part, u.File}
		count[file]++
		c.Features = [Features]float32{
			UnitWords:    beside(c.words, words),
			UnitOwn:      beside(c.own, own),
			UnitOf:       s.share(all, s.words),
			UnitOfName:   s.share(c.in.name, s.words),
			UnitOfHeader: s.share(c.in.header, s.words),
			UnitOfDoc:    s.share(c.in.doc, s.words),
			UnitOfBody:   s.share(c.in.body, s.words),
			UnitNames:    s.share(all, s.names),
			UnitLines:    log(float32(u.End-u.Start)) / 5,
			UnitNth:      1 / count[file],
			UnitNoCode:   one(!callable(u.Kind())),
			UnitTest:     one(f.Flags&segment.Test != 0 && !s.q.Tests),
			UnitLanguage: languages(f.Path),
			UnitSpecial:  one(strings.HasPrefix(name, "__") || strings.HasPrefix(name, "test") && !s.q.Tests),

			UnitScore:       c.words,
			UnitOwnScore:    c.own,
			UnitFileScore:   c.lent,
			UnitHomeNth:     log(candidateFiles),
			UnitNamesakes:   namesakes[name],
			UnitTitleInName: s.share(c.in.name, s.title),
			UnitRarest:      s.rarest(c.in.name),
			UnitParts:       float32(u.Parts),
			UnitComment:     float32(u.Doc),
			UnitAt:          log(float32(u.Start)),
			UnitCount:       log(float32(f.Count)),
			UnitPlace:       log(float32(i)),
			UnitDescribed:   s.q.Describes,
			UnitTitle:       float32(bits.OnesCount64(uint64(s.title))),
		}
		v := &c.Features
		if u.Parts > 0 {
			v[UnitPrecise] = min(1, float32(bits.OnesCount64(uint64(c.in.name&s.words)))/float32(u.Parts))
		}
		s.judgePast(c, file)
		if h := s.home[file]; h != nil {
			all |= h.path.anywhere()
			v[UnitFile] = beside(h.words, ofFile)
			v[UnitScope], v[UnitTested] = h.Features[FileScope], h.Features[FileTested]
			v[UnitHome], v[UnitHomeNth] = home[file].odds, home[file].nth
			v[UnitFileTitle] = h.Features[FileOfTitle]
		}
		v[UnitOfAll], v[UnitOfTitle] = s.share(all, s.words), s.share(all, s.title)
	}
	s.judgeMates()
}

// judgePast tells what commits say of a unit and its file.
func (s *second) judgePast(c *Candidate, file Ref) {
	const never = 10_000 // days
	p := s.parts[c.Part]
	home, it := s.pastOfFile(file), s.pastOf(p.Files[file.Unit].Path, history.NameOf(p.Owner(c.ID), p.Name(c.ID)))
	if !it.known {
		it.Last = never
	}
	v := &c.Features
	v[UnitAlike], v[UnitFileTold], v[UnitFileLikest] = home.Share, home.Words, home.Best
	v[UnitLately], v[UnitYears] = log(home.Lately), log(home.Years)
	v[UnitItAlike], v[UnitItTold], v[UnitItLikest] = it.Share, it.Words, it.Best
	v[UnitItChanged], v[UnitItLately], v[UnitItYears], v[UnitItLast] = log(it.All), log(it.Lately), log(it.Years), log(it.Last)
	v[UnitItShare] = it.Years / (1 + home.Years)
}

// judgeMates compares the units of each file.
func (s *second) judgeMates() {
	mates := map[Ref][]*Candidate{}
	for i := range s.units {
		c := &s.units[i]
		file := Ref{c.Part, s.parts[c.Part].Units[c.ID].File}
		mates[file] = append(mates[file], c)
	}
	for _, list := range mates {
		slices.SortStableFunc(list, func(a, b *Candidate) int { return compare(b.own, a.own) })
		for i, c := range list {
			c.Features[UnitOwnNth], c.Features[UnitMates] = float32(i+1), log(float32(len(list)))
		}
	}
}

func (s *second) name(c *Candidate) string { return strings.ToLower(s.parts[c.Part].Name(c.ID)) }

// home is how good a file is as such, as odds beside the best and as a place.
type home struct{ odds, nth float32 }

// homes orders the files by the weights of what speaks for them.
func (s *second) homes() map[Ref]home {
	scores, order := make([]float32, len(s.files)), make([]int, len(s.files))
	for i := range s.files {
		scores[i], order[i] = s.w.File.Weigh(&s.files[i].Features), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(scores[b], scores[a]) })
	out := make(map[Ref]home, len(order))
	for nth, i := range order {
		out[s.files[i].ref()] = home{odds(scores[i] - scores[order[0]]), log(float32(nth))}
	}
	return out
}

// languages returns what tells how much of the project is in files like one, by
// the ends of their names, beside what is in those of the best candidates.
func (s *second) languages() func(name string) float32 {
	units := map[string]float32{}
	of := func(name string) float32 {
		ext := path.Ext(name)
		n, ok := units[ext]
		if !ok {
			for _, p := range s.parts {
				n += float32(p.Extensions[ext])
			}
			n = log(n)
			units[ext] = n
		}
		return n
	}
	most := float32(0)
	for i := range s.files {
		most = max(most, of(s.parts[s.files[i].Part].Files[s.files[i].ID].Path))
	}
	return func(name string) float32 { return beside(of(name), most) }
}

// stem is the name of a file without what tells its kind.
func stem(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return strings.ToLower(base)
}

// tested is the stem of what a file of tests is named after.
func tested(name string) string {
	s := stem(name)
	for _, end := range [...]string{"tests", "test", "spec"} {
		s = strings.TrimRight(strings.TrimSuffix(s, end), "_-")
	}
	return strings.TrimLeft(strings.TrimPrefix(s, "test"), "_-")
}
