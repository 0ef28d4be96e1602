package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// rulesIn reads a file of rules: settings, or a list as the setting commandRules has it. is is
// false for what is no such file.
func rulesIn(name string) (rules []config.CommandRule, problems []string, is bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, false
	}
	f, err := osfile.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, config.MaxSourceBytes+1))
	if err != nil {
		return nil, nil, false
	}
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '[' {
		data = slices.Concat([]byte(`{"commandRules": `), data, []byte("\n}"))
	}
	if !bytes.Contains(data, []byte("commandRules")) {
		return nil, nil, false
	}
	set, wrong := config.Load(config.Source{Origin: config.User, Name: name, Data: data})
	for _, p := range wrong {
		if p.Key == "" || strings.HasPrefix(p.Key, "commandRules") {
			problems = append(problems, p.String())
		}
	}
	return set.CommandRules(), problems, true
}

// checkedRule is a checked rule as --json prints it.
type checkedRule struct {
	Prefix   []string `json:"prefix"`
	Decision string   `json:"decision"`
	Problems []string `json:"problems"`
}

// testRules checks the examples of rules, and where they contradict each other.
func testRules(c *cli, name string, rules []config.CommandRule, problems []string) error {
	all := make([]shell.Rule, len(rules))
	for i, r := range rules {
		all[i] = shell.Rule{Prefix: r.Prefix, Decision: policy.Outcome(r.Decision), Known: r.Rest == "known", Packages: r.Packages}
	}
	together := shell.Judge{Rules: shell.MakeRules(all)}
	checked := make([]checkedRule, len(rules))
	wrong := len(problems)
	for i, r := range rules {
		checked[i] = checkedRule{r.Prefix, r.Decision, checkRule(r, all[i], &together)}
		if slices.ContainsFunc(rules[:i], func(o config.CommandRule) bool { return slices.Equal(o.Prefix, r.Prefix) && o.Decision != r.Decision }) {
			checked[i].Problems = append(checked[i].Problems, "an earlier rule decides otherwise about the same words, and the stricter holds")
		}
		wrong += len(checked[i].Problems)
	}
	if c.json {
		if err := c.print(map[string]any{"rules": checked, "problems": append([]string{}, problems...)}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			fmt.Fprintln(c.Out, p)
		}
		for i, r := range checked {
			state := "ok"
			if len(r.Problems) > 0 {
				state = strings.Join(r.Problems, "; ")
			}
			fmt.Fprintf(c.Out, "rule %d  %-5s  %s  %s\n", i+1, r.Decision, strings.Join(r.Prefix, " "), state)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%s: %s", name, tools.Count(wrong, "problem"))
	}
	if len(rules) == 0 {
		return errors.New(name + " has no rules")
	}
	return nil
}

// checkRule checks the examples of a rule: by itself, and with the others.
func checkRule(r config.CommandRule, rule shell.Rule, together *shell.Judge) []string {
	problems := []string{}
	alone := shell.Judge{Rules: shell.MakeRules([]shell.Rule{rule})}
	if rule.Packages != "" { // its examples are about words
		with := *together
		with.Installs, alone.Installs = lists(rule.Packages), lists(rule.Packages)
		together = &with
	}
	decides := func(line string) bool {
		return slices.ContainsFunc(alone.Judge(line).Parts, func(p shell.Part) bool { return p.Rule == "command.rule" && p.Outcome == rule.Decision })
	}
	for _, line := range r.Match {
		if !decides(line) {
			problems = append(problems, fmt.Sprintf("match: it does not decide about %q", line))
		} else if v := together.Judge(line); v.Outcome != rule.Decision {
			problems = append(problems, fmt.Sprintf("conflict: with the other rules %q is %s (%s)", line, outcomeWord(v.Outcome), v.Reason))
		}
	}
	for _, line := range r.NotMatch {
		if decides(line) {
			problems = append(problems, fmt.Sprintf("notMatch: it decides about %q", line))
		}
	}
	return problems
}

// lists has the same packages in each lock file.
type lists string

// Digest implements shell.Installs.
func (l lists) Digest([]string) string { return string(l) }

// outcomeWord is an outcome for people.
func outcomeWord(o policy.Outcome) string {
	switch o {
	case policy.Allow:
		return "allowed"
	case policy.Deny:
		return "denied"
	case policy.Ask:
		return "asked about"
	}
	return "left to the mode"
}
