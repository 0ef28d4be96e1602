package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// least is the gain that makes a change of a weight worth it; what is less is
// luck.
const least = 0.0003

// How many trees units and files get: more learn by heart.
const (
	unitTrees = 300
	fileTrees = 80
)

// tune learns judges again and prints how good they are: over everything, and,
// with held, over repositories that they were not learned from, a part of them
// at a time, which is what can be hoped for elsewhere. What all of it leads to is
// written to a file if one is named. rounds is how long it searches for the
// weights of the words, too.
func tune(ctx context.Context, w io.Writer, states []*state, cache, file string, held bool, rounds int) error {
	all, err := jobs(ctx, states, cache)
	if err != nil {
		return err
	}
	plain := rank.Default()
	plain.Unit, plain.File = rank.Judge{}, rank.Judge{}
	summary(w, "by words alone", all, judge(all, plain))
	summary(w, "the judges as they are", all, judge(all, rank.Default()))
	if rounds > 0 {
		plain = climb(w, all, plain, rounds)
		fmt.Fprintf(w, "%+v\n", plain)
	}
	if held {
		if err := heldOut(w, all, plain); err != nil {
			return err
		}
	}
	best := fitted(all, plain, func(string) bool { return true })
	summary(w, "the judges that all of it leads to", all, judge(all, best))
	if file == "" {
		return nil
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(rank.WriteJudges(out, &best.Unit, &best.File), out.Close())
}

// heldOut judges every query with what the repositories of other parts lead to.
func heldOut(w io.Writer, all []job, plain rank.Weights) error {
	const parts = 5
	repos := repositories(all)
	if len(repos) < 2 {
		return fmt.Errorf("judges are learned from several repositories, but the sets have only %q", repos)
	}
	verdicts := make([]verdict, len(all))
	for part := range min(parts, len(repos)) {
		inPart := func(repo string) bool { return slices.Index(repos, repo)%parts == part }
		weights := fitted(all, plain, func(repo string) bool { return !inPart(repo) })
		some := slices.DeleteFunc(slices.Clone(all), func(j job) bool { return !inPart(j.repo()) })
		of := judge(some, weights)
		for i := range all {
			if inPart(all[i].repo()) {
				verdicts[i], of = of[0], of[1:]
			}
		}
	}
	summary(w, "judges that have not seen the repository", all, verdicts)
	return nil
}

// fitted learns from some repositories: the judge of files first, as units are
// told apart by their files, too.
func fitted(all []job, plain rank.Weights, from func(repo string) bool) rank.Weights {
	out := plain
	out.File.Weights[0] = 1 // so that there are features
	_, files := orderings(chosen(all, from), out)
	out.File = judgeOf(files, fileTrees)
	units, _ := orderings(chosen(all, from), out)
	out.Unit = judgeOf(units, unitTrees)
	return out
}

// judgeOf learns weights, and then the trees for what these leave wrong.
func judgeOf(lists []ordering, trees int) rank.Judge {
	lists = slices.DeleteFunc(lists, func(o ordering) bool { return !slices.Contains(o.gold, true) })
	weights := learn(lists)
	return rank.Judge{Weights: weights, Trees: boost(lists, weights, trees)}
}

// chosen are the jobs to learn from.
func chosen(all []job, from func(repo string) bool) []job {
	var out []job
	skip := thin(all)
	for i := range all {
		if from(all[i].repo()) && !skip(i) {
			out = append(out, all[i])
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
		j.records[j.record].Judge(ask(r, j.seg, j.past(), j.text), &out[i].files, &out[i].units)
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
