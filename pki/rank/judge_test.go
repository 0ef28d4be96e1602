package rank_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

func judges() (unit, file rank.Judge) {
	unit.Weights[rank.UnitWords] = 2
	unit.Trees = []rank.Tree{{
		Features: [rank.Depth]uint8{rank.UnitOf, rank.UnitTest, rank.UnitLines},
		Cuts:     [rank.Depth]float32{0.5, 1, 2},
		Leaves:   [1 << rank.Depth]float32{0, 1, 2, 3, 4, 5, 6, 7},
	}}
	file.Weights[rank.FileWords] = -0.25
	return unit, file
}

// TestJudge: weights and trees add up, and a value as large as the cut sets the bit.
func TestJudge(t *testing.T) {
	unit, _ := judges()
	for _, c := range []struct {
		words, of, test, lines float32
		want                   float32
	}{
		{},
		{words: 1, want: 2},
		{of: 0.5, want: 1},
		{of: 0.49},
		{test: 1, want: 2},
		{words: 0.5, of: 1, lines: 3, want: 1 + 5},
		{of: 1, test: 1, lines: 2, want: 7},
	} {
		v := [rank.Features]float32{rank.UnitWords: c.words, rank.UnitOf: c.of, rank.UnitTest: c.test, rank.UnitLines: c.lines}
		if got := unit.Of(&v); got != c.want {
			t.Errorf("%+v is judged as %v", c, got)
		}
	}
	if none := (rank.Judge{}); !none.None() || unit.None() {
		t.Error("what was learned is not told from nothing")
	}
}

// TestReadJudges: what was written is read, and nothing that is broken.
func TestReadJudges(t *testing.T) {
	unit, file := judges()
	var b bytes.Buffer
	if err := rank.WriteJudges(&b, &unit, &file); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	again, fileAgain, err := rank.ReadJudges(strings.NewReader(text))
	if err != nil || !cmp.Equal(unit, again) || !cmp.Equal(file, fileAgain) {
		t.Errorf("%v, of\n%s", err, text)
	}
	for _, broken := range []string{
		"",
		text[:len(text)/2],
		strings.Replace(text, "judge 1", "judge 2", 1),
		strings.Replace(text, "judge 1", "judge 0", 1),
		strings.Replace(text, "judge 1", "judge x", 1),
		strings.Replace(text, "-0.25", "-0.25 1", 1),
		strings.Replace(text, "-0.25 ", "", 1),
		strings.Replace(text, "-0.25", "?", 1),
		strings.Replace(text, "\n3 ", "\n200 ", 1),
		strings.Replace(text, "\n3 ", "\n-1 ", 1),
		strings.Replace(text, "\n3 ", "\n1.5 ", 1),
	} {
		if broken == text {
			t.Fatal("nothing is broken")
		}
		if _, _, err := rank.ReadJudges(strings.NewReader(broken)); err == nil {
			t.Errorf("no error for\n%s", broken)
		}
	}
}

// TestLearned: what is built in has been learned.
func TestLearned(t *testing.T) {
	w := rank.Default()
	if len(w.Unit.Trees) == 0 || len(w.File.Trees) == 0 || w.Unit.Weights[rank.UnitWords] <= 0 || w.File.Weights[rank.FileWords] <= 0 {
		t.Errorf("%d and %d trees", len(w.Unit.Trees), len(w.File.Trees))
	}
}

// BenchmarkJudge judges the candidates of one question.
func BenchmarkJudge(b *testing.B) {
	judge := rank.Default().Unit
	candidates := make([][rank.Features]float32, 150)
	for i := range candidates {
		for k := range candidates[i] {
			candidates[i][k] = float32((i*31+k*17)%13) / 13
		}
	}
	for b.Loop() {
		for i := range candidates {
			judge.Of(&candidates[i])
		}
	}
}
