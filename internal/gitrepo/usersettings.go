package gitrepo

// UserSettings returns those of the user's own settings of git that have one
// of the keys, which are section.name in lower case, as they hold for the
// repository with the git directory gitDir; "" is none. They are read in this
// process; what the repository itself sets is not among them.
func UserSettings(gitDir string, keys ...string) (map[string]string, error) {
	l := configLoader{r: &Repo{GitDir: gitDir}, conf: config{}}
	for _, file := range userConfigFiles() {
		if err := l.load(file, 0); err != nil {
			return nil, err
		}
	}
	found := map[string]string{}
	for _, key := range keys {
		if value, ok := l.conf[key]; ok {
			found[key] = value
		}
	}
	return found, nil
}
