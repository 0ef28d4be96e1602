package testrun

import "github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"

var makeTarget = lazily(`(?m)^(test|check)\s*:(?:[^=]|$)`)

// planMake runs the target test, or check. What it can select nobody knows.
func planMake(p project) (*Plan, error) {
	for _, file := range []string{"GNUmakefile", "makefile", "Makefile"} {
		targets := map[string]bool{}
		for _, m := range makeTarget().FindAllStringSubmatch(p.Read(file), -1) {
			targets[m[1]] = true
		}
		for _, target := range []string{"test", "check"} {
			if !targets[target] {
				continue
			}
			if p.Path != "" || p.name != "" {
				return nil, detect.Refuse("make runs all tests: leave path and name out, or give the command that runs those of your choice")
			}
			return &Plan{Runner: "make", Words: []string{"make", target}}, nil
		}
	}
	return nil, nil
}
