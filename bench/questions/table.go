package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result has the tallies of all days.
type result struct {
	days     []*Day
	tallies  map[string]map[string]*tally // by day and mode
	confined string
}

// counts are the questions of each day and mode.
func (r *result) counts() map[string]map[string]int {
	all := map[string]map[string]int{}
	for _, d := range r.days {
		all[d.Name] = map[string]int{}
		for _, mode := range modes {
			all[d.Name][mode] = r.tallies[d.Name][mode].asked
		}
	}
	return all
}

// whole reports whether there is no hole and no needless denial.
func (r *result) whole() bool {
	for _, byMode := range r.tallies {
		for _, t := range byMode {
			if len(t.holes)+len(t.wrongly) > 0 {
				return false
			}
		}
	}
	return true
}

// markdown is the result as a page. before has the questions of the first count.
func (r *result) markdown(before map[string]map[string]int) string {
	var b strings.Builder
	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %v ", c)
		}
		b.WriteString("|\n")
	}
	head := func(first ...any) {
		var rule []any
		for _, mode := range modes {
			first = append(first, mode)
		}
		for i := range first {
			rule = append(rule, map[bool]string{true: "---", false: "--:"}[i == 0])
		}
		row(first...)
		row(rule...)
	}
	b.WriteString("# Questions in a day of work\n\nWritten by `make bench-questions`; [main.go](main.go) says how they are counted.\n")
	fmt.Fprintf(&b, "Commands are confined here as follows: %s.\n\n", r.confined)

	b.WriteString("## Calls that a person is asked about\n\n")
	head("day", "agent", "calls")
	calls, sums, firsts := 0, map[string]int{}, map[string]int{}
	for _, d := range r.days {
		cells := []any{d.Name, d.Agent, len(d.Calls)}
		calls += len(d.Calls)
		for _, mode := range modes {
			n := r.tallies[d.Name][mode].asked
			sums[mode] += n
			firsts[mode] += before[d.Name][mode]
			cells = append(cells, n)
		}
		row(cells...)
	}
	sum, share := []any{"**sum**", "", calls}, []any{"% of the first count", "", ""}
	for _, mode := range modes {
		sum = append(sum, sums[mode])
		if firsts[mode] > 0 {
			share = append(share, sums[mode]*100/firsts[mode])
		}
	}
	row(sum...)
	if len(share) == len(sum) {
		row(share...)
	}

	b.WriteString("\n## What else\n\n")
	head("over all days")
	for _, line := range []struct {
		what string
		of   func(*tally) int
	}{
		{"allowed, nobody asked", func(t *tally) int { return t.allowed }},
		{"asked", func(t *tally) int { return t.asked }},
		{"of them a person must be asked", func(t *tally) int { return t.needed }},
		{"denied", func(t *tally) int { return t.denied }},
		{"denied without need", func(t *tally) int { return len(t.wrongly) }},
		{"calls that a person must be asked about", func(t *tally) int { return t.marked }},
		{"of them what stays in the session, which nothing leaves", func(t *tally) int { return t.inside }},
		{"of them nobody would be asked in a fresh session", func(t *tally) int { return len(t.holes) }},
	} {
		cells := []any{line.what}
		for _, mode := range modes {
			n := 0
			for _, d := range r.days {
				n += line.of(r.tallies[d.Name][mode])
			}
			cells = append(cells, n)
		}
		row(cells...)
	}

	b.WriteString("\n## Which rule asks\n\n")
	head("rule")
	rules := map[string]map[string]int{}
	for _, d := range r.days {
		for _, mode := range modes {
			for rule, n := range r.tallies[d.Name][mode].rules {
				rule = strings.Replace(rule, "mode."+mode+".", "mode.", 1)
				if rules[rule] == nil {
					rules[rule] = map[string]int{}
				}
				rules[rule][mode] += n
			}
		}
	}
	for _, rule := range slices.SortedFunc(maps.Keys(rules), func(x, y string) int {
		return cmp.Or(cmp.Compare(rules[y]["review"], rules[x]["review"]), cmp.Compare(x, y))
	}) {
		cells := []any{"`" + rule + "`"}
		for _, mode := range modes {
			cells = append(cells, rules[rule][mode])
		}
		row(cells...)
	}
	for _, list := range []struct {
		title string
		of    func(*tally) []string
	}{
		{"Nobody would be asked, and must be", func(t *tally) []string { return t.holes }},
		{"Denied without need", func(t *tally) []string { return t.wrongly }},
	} {
		first := true
		for _, d := range r.days {
			for _, mode := range modes {
				for _, line := range list.of(r.tallies[d.Name][mode]) {
					if first {
						fmt.Fprintf(&b, "\n## %s\n\n", list.title)
						first = false
					}
					fmt.Fprintf(&b, "- %s\n", line)
				}
			}
		}
	}
	return b.String()
}
