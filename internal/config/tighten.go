package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stricterOf lets a choice move towards the end of the row's Enum.
func stricterOf(row *Setting, have, want any) (any, []string) {
	from, to := slices.Index(row.Enum, have.(string)), slices.Index(row.Enum, want.(string))
	switch {
	case have == want:
	case from < 0 || to < 0:
		return have, []string{fmt.Sprintf("a project that is not trusted can't change it from %s to %s", have, want)}
	case to < from:
		return have, []string{fmt.Sprintf("a project that is not trusted can't loosen it from %s to %s", have, want)}
	}
	return want, nil
}

// StricterMode returns want if it is stricter than have, else have. A custom
// mode can't be compared, so that nothing takes its place.
func StricterMode(have, want string) string {
	got, _ := stricterOf(lookup("mode"), have, want)
	return got.(string)
}

func onlyFalse(_ *Setting, have, want any) (any, []string) {
	if want.(bool) && !have.(bool) {
		return have, []string{"a project that is not trusted can't turn it on"}
	}
	return want, nil
}

func smallerOf(_ *Setting, have, want any) (any, []string) {
	if want.(int) > have.(int) {
		return have, []string{fmt.Sprintf("a project that is not trusted can't raise it from %d to %d", have, want)}
	}
	return want, nil
}

// smallerBoundOf is smallerOf where 0 is no bound at all.
func smallerBoundOf(row *Setting, have, want any) (any, []string) {
	switch {
	case have.(int) == 0:
		return want, nil
	case want.(int) == 0:
		return have, []string{fmt.Sprintf("a project that is not trusted can't take away the bound of %d", have)}
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
			refused = append(refused, fmt.Sprintf("a project that is not trusted can't loosen %s to %s", cut(tool), outcome))
		}
	}
	return got, refused
}

func stricterRules(_ *Setting, have, want any) (any, []string) {
	got := slices.Clone(have.([]CommandRule))
	var refused []string
	for _, r := range want.([]CommandRule) {
		if r.Decision == "allow" {
			refused = append(refused, fmt.Sprintf("a project that is not trusted can't allow the command %q", cut(strings.Join(r.Prefix, " "))))
			continue
		}
		got = append(got, r)
	}
	return got, refused
}

// outcomes are what a permission can be, loosest first.
var outcomes = []string{"allow", "ask", "deny"}

// strictness grows from allow to deny; nothing said is below them all.
func strictness(outcome string) int { return slices.Index(outcomes, outcome) }
