package rank

import (
	"bufio"
	"bytes"
	_ "embed" // what was learned
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Depth is how many features a tree asks.
const Depth = 3

// Tree asks for some features, always all of them: each that is no less than
// its cut sets a bit, the first one the lowest, and the bits are the leaf.
type Tree struct {
	Features [Depth]uint8
	Cuts     [Depth]float32
	Leaves   [1 << Depth]float32
}

// Of is what the tree says of a candidate.
func (t *Tree) Of(v *[Features]float32) float32 {
	leaf := 0
	for i, f := range t.Features {
		bit := 0 // a branch would be guessed wrong half of the time
		if v[f] >= t.Cuts[i] {
			bit = 1
		}
		leaf |= bit << i
	}
	return t.Leaves[leaf]
}

// Judge is what was learned of the features of candidates: a weight for each,
// and trees for what no weight can say, such as that one counts only beside
// another. The zero Judge says nothing.
type Judge struct {
	Weights [Features]float32
	Trees   []Tree
}

// None reports whether nothing was learned.
func (j *Judge) None() bool { return len(j.Trees) == 0 && j.Weights == [Features]float32{} }

// Weigh is the sum of the features by their weights.
func (j *Judge) Weigh(v *[Features]float32) float32 {
	sum := float32(0)
	for k, weight := range j.Weights {
		sum += weight * v[k]
	}
	return sum
}

// Of is what the weights and the trees say of a candidate: the more, the
// likelier it is right.
func (j *Judge) Of(v *[Features]float32) float32 {
	sum := j.Weigh(v)
	for i := range j.Trees {
		sum += j.Trees[i].Of(v)
	}
	return sum
}

// learned is what make bench-knowledge writes with CACHE and LEARNED: the judge of
// units, then that of files. Each is a line of weights and one for each tree:
// its features, cuts and leaves.
//
//go:embed learned.txt
var learned string

// judges reads them once.
var judges = sync.OnceValue(func() (both [2]Judge) {
	unit, file, err := ReadJudges(strings.NewReader(learned))
	if err != nil {
		panic("learned.txt: " + err.Error()) // it is built in
	}
	return [2]Judge{unit, file}
})

// WriteJudges writes what was learned as text.
func WriteJudges(w io.Writer, unit, file *Judge) error {
	var b bytes.Buffer
	numbers := func(list []float32) {
		for _, v := range list {
			b.WriteString(strconv.FormatFloat(float64(v), 'g', 4, 32))
			b.WriteByte(' ')
		}
	}
	for _, j := range []*Judge{unit, file} {
		fmt.Fprintf(&b, "judge %d\n", len(j.Trees))
		numbers(j.Weights[:])
		b.WriteByte('\n')
		for i := range j.Trees {
			t := &j.Trees[i]
			for _, f := range t.Features {
				fmt.Fprintf(&b, "%d ", f)
			}
			numbers(t.Cuts[:])
			numbers(t.Leaves[:])
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(" \n"), []byte("\n")))
	return err
}

// ReadJudges reads what WriteJudges wrote.
func ReadJudges(r io.Reader) (unit, file Judge, err error) {
	lines := bufio.NewScanner(r)
	numbers := func(to ...[]float32) error {
		if !lines.Scan() {
			return io.ErrUnexpectedEOF
		}
		words := strings.Fields(lines.Text())
		for _, list := range to {
			if len(words) < len(list) {
				return fmt.Errorf("too few numbers in %q", lines.Text())
			}
			for i := range list {
				v, err := strconv.ParseFloat(words[i], 32)
				if err != nil {
					return err
				}
				list[i] = float32(v)
			}
			words = words[len(list):]
		}
		if len(words) > 0 {
			return fmt.Errorf("too many numbers in %q", lines.Text())
		}
		return nil
	}
	for _, j := range []*Judge{&unit, &file} {
		trees := 0
		if !lines.Scan() {
			return unit, file, io.ErrUnexpectedEOF
		}
		if _, err := fmt.Sscanf(lines.Text(), "judge %d", &trees); err != nil {
			return unit, file, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		if err := numbers(j.Weights[:]); err != nil {
			return unit, file, err
		}
		for range trees {
			var t Tree
			var features [Depth]float32
			if err := numbers(features[:], t.Cuts[:], t.Leaves[:]); err != nil {
				return unit, file, err
			}
			for i, f := range features {
				if f < 0 || f >= Features || f != float32(uint8(f)) {
					return unit, file, fmt.Errorf("there is no feature %v", f)
				}
				t.Features[i] = uint8(f)
			}
			j.Trees = append(j.Trees, t)
		}
	}
	return unit, file, nil
}
