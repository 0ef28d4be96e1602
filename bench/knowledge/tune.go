package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// least is the gain that makes a change of a weight worth it; what is less is
// luck.
const least = 0.0003

// tune finds weights anew and prints what they give: over everything, and over
// each repository with the weights that the others alone lead to, which is what
// can be hoped for elsewhere. rounds is how long it searches for those of the
// words, too.
func tune(ctx context.Context, w io.Writer, states []*state, cache string, rounds int) error {
	all, err := jobs(ctx, states, cache)
	if err != nil {
		return err
	}
	plain := rank.Default()
	plain.Unit, plain.File = vector{}, vector{}
	summary(w, "by words alone", all, judge(all, plain))
	summary(w, "the weights as they are", all, judge(all, rank.Default()))
	if rounds > 0 {
		plain = climb(w, all, plain, rounds)
	}
	fit := plain
	fit.Unit[0], fit.File[0] = 1, 1 // so that there are features
	units, files := orderings(all, fit)
	fitted := func(without string) rank.Weights {
		out := fit
		out.Unit = learn(chosen(all, units, without, func(v *retrieval.Record) bool { return len(v.Symbols) > 0 }))
		out.File = learn(chosen(all, files, without, func(*retrieval.Record) bool { return true }))
		return out
	}
	held := make([]verdict, len(all))
	repos := repositories(all)
	if len(repos) < 2 {
		return fmt.Errorf("weights are learned from several repositories, but the sets have only %q", repos)
	}
	for _, repo := range repos {
		some := slices.DeleteFunc(slices.Clone(all), func(j job) bool { return j.repo() != repo })
		verdicts := judge(some, fitted(repo))
		for i := range all {
			if all[i].repo() == repo {
				held[i], verdicts = verdicts[0], verdicts[1:]
			}
		}
	}
	summary(w, "weights that have not seen the repository", all, held)
	best := fitted("")
	summary(w, "the weights that all of it leads to", all, judge(all, best))
	fmt.Fprintf(w, "%+v\n", best)
	return nil
}

// chosen are the orderings to learn from.
func chosen(all []job, lists []ordering, without string, wanted func(*retrieval.Record) bool) []ordering {
	var out []ordering
	skip := thin(all)
	for i := range all {
		if j := &all[i]; j.repo() != without && !skip(i) && wanted(j.records[j.record]) {
			out = append(out, lists[i])
		}
	}
	return out
}

func (j *job) repo() string { return j.records[j.record].Repo }

func repositories(all []job) []string {
	names := map[string]bool{}
	for i := range all {
		names[all[i].repo()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// verdict is how well one query was answered.
type verdict struct{ files, units retrieval.Figures }

// worth is what the search makes as large as it can.
func (v *verdict) worth() float64 {
	worth := v.files.MRR + v.files.Hit5
	if v.units.N > 0 {
		worth += v.units.MRR + v.units.Hit5
	}
	return worth
}

func worth(all []verdict) float64 {
	sum := 0.0
	for i := range all {
		sum += all[i].worth()
	}
	return sum / math.Max(1, float64(len(all)))
}

// judge answers every query.
func judge(all []job, w rank.Weights) []verdict {
	r := rank.New(w)
	out := make([]verdict, len(all))
	each(len(all), func(_, i int) {
		j := &all[i]
		j.records[j.record].Judge(ask(r, j.seg, j.past, j.text), &out[i].files, &out[i].units)
	})
	return out
}

// climb changes one weight after the other as long as it helps.
func climb(w io.Writer, all []job, weights rank.Weights, rounds int) rank.Weights {
	skip := thin(all)
	var some []job
	for i := range all {
		if !skip(i) {
			some = append(some, all[i])
		}
	}
	all = some
	best := worth(judge(all, weights))
	step := float32(1.3)
	fields := reflect.ValueOf(&weights).Elem()
	for range rounds {
		for i := range fields.NumField() {
			weight := fields.Field(i)
			if weight.Kind() != reflect.Float32 {
				continue
			}
			for _, factor := range []float32{step, 1 / step} {
				for weight.Float() != 0 {
					old := weight.Float()
					weight.SetFloat(old * float64(factor))
					now := worth(judge(all, weights))
					if now <= best+least {
						weight.SetFloat(old)
						break
					}
					best = now
					fmt.Fprintf(w, "%.4f %s %.3f\n", best, fields.Type().Field(i).Name, weight.Float())
				}
			}
		}
		step = 1 + (step-1)*0.6
	}
	return weights
}

// thin keeps a repository with more queries than all others from having its
// way: it tells which to skip.
func thin(all []job) func(i int) bool {
	const most = 350
	of, at := map[string]int{}, map[string]int{}
	for i := range all {
		of[all[i].repo()]++
	}
	out := make([]bool, len(all))
	for i := range all {
		repo := all[i].repo()
		at[repo]++
		out[i] = of[repo] > most && at[repo]*most/of[repo] == (at[repo]-1)*most/of[repo]
	}
	return func(i int) bool { return out[i] }
}

// summary prints the figures by repository and by set.
func summary(w io.Writer, title string, all []job, verdicts []verdict) {
	groups := map[string]*verdict{}
	for i := range verdicts {
		r := all[i].records[all[i].record]
		for _, name := range []string{r.Repo, "set " + r.Set + "/" + all[i].variant, "~ all"} {
			if groups[name] == nil {
				groups[name] = new(verdict)
			}
			groups[name].files.Sum(&verdicts[i].files)
			groups[name].units.Sum(&verdicts[i].units)
		}
	}
	fmt.Fprintf(w, "%s: %.4f\n%-30s %s | %s\n", title, worth(verdicts), "", "files n H1 H5 H10 MRR R10", "functions")
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(w, "%-30s %s | %s\n", name, &groups[name].files, &groups[name].units)
	}
}
