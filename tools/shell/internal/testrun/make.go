package testrun

var makeTarget = lazily(`(?m)^(test|check)\s*:(?:[^=]|$)`)

// planMake runs the target test, or check. What it can select nobody knows.
func planMake(p project) (*Plan, error) {
	for _, file := range []string{"GNUmakefile", "makefile", "Makefile"} {
		targets := map[string]bool{}
		for _, m := range makeTarget().FindAllStringSubmatch(p.read(file), -1) {
			targets[m[1]] = true
		}
		for _, target := range []string{"test", "check"} {
			if !targets[target] {
				continue
			}
			if p.path != "" || p.name != "" {
				return nil, refused("make runs all tests: leave path and name out, or give the command that runs those of your choice")
			}
			return &Plan{Runner: "make", Line: line("make", target)}, nil
		}
	}
	return nil, nil
}
