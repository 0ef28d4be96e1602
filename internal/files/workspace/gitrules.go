package workspace

// GitRules are the rules of git's own ignore files alone, as they apply in one
// directory: what git itself takes for ignored, for whoever says what git
// says. The zero value has none. A value can be copied and shared.
type GitRules struct{ rules dirRules }

// AddUser puts the user's own ignore file in force (core.excludesFile).
func (g *GitRules) AddUser(text []byte) { g.rules.add(userRules, text) }

// AddExclude puts the repository's own file in force (.git/info/exclude).
func (g *GitRules) AddExclude(text []byte) { g.rules.add(excludeRules, text) }

// AddFile puts the .gitignore of the directory in force.
func (g *GitRules) AddFile(text []byte) { g.rules.add(gitRules, text) }

// Enter returns the rules as they apply in a subdirectory, without those of
// its own file.
func (g *GitRules) Enter(name []byte) GitRules { return GitRules{g.rules.enter(name)} }

// Ignored reports whether the rules leave a name in the directory out. What is
// in a directory that is left out is left out too; the rules don't know that.
func (g *GitRules) Ignored(name []byte, dir bool) bool { return g.rules.match(name, dir) == excluded }
