package skills

import (
	"regexp"
	"strings"
)

// Bounds of the steps of a kit.
const (
	maxSteps    = 100
	maxStepText = 500 // characters
)

var (
	heading = regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t]*#*$`)
	item    = regexp.MustCompile(`^ {0,3}\d{1,9}[.)][ \t]+(.+)$`)
)

// stepsOf are the numbered items below a heading "Steps", in order: of each, its first
// line.
func stepsOf(body string) (steps []string) {
	level, fenced := 0, false
	for line := range strings.SplitSeq(body, "\n") {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			switch {
			case level > 0 && len(m[1]) <= level:
				return steps
			case level == 0 && strings.EqualFold(m[2], "steps"):
				level = len(m[1])
			}
			continue
		}
		m := item.FindStringSubmatch(line)
		if level == 0 || m == nil || len(steps) == maxSteps {
			continue
		}
		text := strings.TrimSpace(strings.ReplaceAll(m[1], "**", ""))
		if runes := []rune(text); len(runes) > maxStepText {
			text = string(runes[:maxStepText]) + "…"
		}
		steps = append(steps, text)
	}
	return steps
}
