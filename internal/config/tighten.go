package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// stricterOf lets a choice move towards the end of the row's Enum.
func stricterOf(row *Setting, have, want any) (any, []string) {
	from, to := slices.Index(row.Enum, have.(string)), slices.Index(row.Enum, want.(string))
	switch {
	case have == want:
	case from < 0 || to < 0:
		return have, []string{fmt.Sprintf("a project can't change it from %s to %s", have, want)}
	case to < from:
		return have, []string{fmt.Sprintf("a project can't loosen it from %s to %s", have, want)}
	}
	return want, nil
}

// stricterMode lets a mode move to one that is no looser in anything. A custom mode
// can't be compared, so that nothing takes its place.
func stricterMode(_ *Setting, have, want any) (any, []string) {
	if have == want {
		return have, nil
	}
	from, known := policy.Lookup(have.(string))
	to, both := policy.Lookup(want.(string))
	switch {
	case !known || !both:
		return have, []string{fmt.Sprintf("a project can't change it from %s to %s", have, want)}
	case !to.AtLeast(from):
		return have, []string{fmt.Sprintf("a project can't loosen it from %s to %s", have, want)}
	}
	return want, nil
}

func onlyFalse(_ *Setting, have, want any) (any, []string) {
	if want.(bool) && !have.(bool) {
		return have, []string{"a project can't turn it on"}
	}
	return want, nil
}

func smallerOf(_ *Setting, have, want any) (any, []string) {
	if want.(int) > have.(int) {
		return have, []string{fmt.Sprintf("a project can't raise it from %d to %d", have, want)}
	}
	return want, nil
}

// smallerBoundOf is smallerOf where 0 is no bound at all.
func smallerBoundOf(row *Setting, have, want any) (any, []string) {
	switch {
	case have.(int) == 0:
		return want, nil
	case want.(int) == 0:
		return have, []string{fmt.Sprintf("a project can't take away the bound of %d", have)}
	}
	return smallerOf(row, have, want)
}

func stricterPermissions(_ *Setting, have, want any) (any, []string) {
	got := maps.Clone(have.(map[string]string))
	if got == nil {
		got = map[string]string{}
	}
	var refused []string
	asked := want.(map[string]string)
	for _, tool := range slices.Sorted(maps.Keys(asked)) {
		outcome := asked[tool]
		switch {
		case outcome == got[tool]:
		case strictness(outcome) > strictness(got[tool]) && outcome != "allow":
			got[tool] = outcome
		default:
			refused = append(refused, fmt.Sprintf("a project can't loosen %s to %s", cut(tool), outcome))
		}
	}
	return got, refused
}

func stricterRules(_ *Setting, have, want any) (any, []string) {
	got := slices.Clone(have.([]CommandRule))
	var refused []string
	for _, r := range want.([]CommandRule) {
		if r.Decision == "allow" {
			refused = append(refused, fmt.Sprintf("a project can't allow the command %q", cut(strings.Join(r.Prefix, " "))))
			continue
		}
		got = append(got, r)
	}
	return got, refused
}

// stricterModes adds modes to those that are there. One of the same name only
// gets stricter.
func stricterModes(_ *Setting, have, want any) (any, []string) {
	got := slices.Clone(have.([]CustomMode))
	for _, m := range want.([]CustomMode) {
		if i := modeNamed(got, m.Name); i >= 0 {
			got[i] = strictest(got[i], m)
		} else {
			got = append(got, m)
		}
	}
	return got, nil
}

// heldModes keeps modes that are gone now: in their place something looser might
// hold.
func heldModes(then, now any) any {
	var got []CustomMode
	for _, m := range then.([]CustomMode) {
		if i := modeNamed(now.([]CustomMode), m.Name); i >= 0 {
			m = strictest(m, now.([]CustomMode)[i])
		}
		got = append(got, m)
	}
	return got
}

func modeNamed(all []CustomMode, name string) int {
	return slices.IndexFunc(all, func(m CustomMode) bool { return m.Name == name })
}

// strictest is a mode that allows only what both allow.
func strictest(a, b CustomMode) CustomMode {
	order := []string{"autonomous", "cautious", "manual"}
	if slices.Index(order, b.Base) > slices.Index(order, a.Base) {
		a.Base = b.Base
	}
	if b.Destination == "review" {
		a.Destination = b.Destination
	}
	permissions := map[string]string{}
	for _, from := range [...]map[string]string{a.Permissions, b.Permissions} {
		for tool, outcome := range from {
			if outcome != "allow" && strictness(outcome) > strictness(permissions[tool]) || a.Permissions[tool] == b.Permissions[tool] {
				permissions[tool] = outcome
			}
		}
	}
	if a.Permissions = permissions; len(permissions) == 0 {
		a.Permissions = nil
	}
	return a
}

// moreTools adds tools whose names no other source has.
func moreTools(_ *Setting, have, want any) (any, []string) {
	got := slices.Clone(have.([]CustomTool))
	var refused []string
	for _, t := range want.([]CustomTool) {
		if toolNamed(got, t.Name) {
			refused = append(refused, fmt.Sprintf("a project can't replace the tool %s, which is yours", t.Name))
			continue
		}
		got = append(got, t)
	}
	return got, refused
}

// heldTools keeps the tools that are still there, as they were.
func heldTools(then, now any) any {
	return slices.DeleteFunc(slices.Clone(then.([]CustomTool)), func(t CustomTool) bool { return !toolNamed(now.([]CustomTool), t.Name) })
}

func toolNamed(all []CustomTool, name string) bool {
	return slices.ContainsFunc(all, func(t CustomTool) bool { return t.Name == name })
}

// moreServers lays servers over those that are there, but runs none that is off, and
// leaves how one is run to whoever said it first. It can switch that one off.
func moreServers(_ *Setting, have, want any) (any, []string) {
	got := map[string]LanguageServer{}
	maps.Copy(got, want.(map[string]LanguageServer))
	var refused []string
	for name, s := range have.(map[string]LanguageServer) {
		switch w, named := got[name]; {
		case !named:
			got[name] = s
		case s.Off && !w.Off:
			got[name] = s
			refused = append(refused, fmt.Sprintf("a project can't turn on %s", name))
		case len(s.Command) > 0 || s.Options != "":
			if len(w.Command) > 0 || w.Options != "" {
				refused = append(refused, fmt.Sprintf("a project can't change how %s is run, which you say", name))
			}
			s.Off = s.Off || w.Off
			got[name] = s
		}
	}
	slices.Sort(refused)
	return got, refused
}

// heldServers keeps the servers as they were, but for those that are off now.
func heldServers(then, now any) any {
	got := map[string]LanguageServer{}
	maps.Copy(got, then.(map[string]LanguageServer))
	for name, s := range now.(map[string]LanguageServer) {
		if s.Off {
			got[name] = s
		}
	}
	return got
}

// outcomes are what a permission can be, loosest first.
var outcomes = []string{"allow", "ask", "deny"}

// strictness grows from allow to deny; nothing said is below them all.
func strictness(outcome string) int { return slices.Index(outcomes, outcome) }
