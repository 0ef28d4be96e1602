package workspace

// Commit is a commit of a repository that only who made it sees.
type Commit struct {
	Message string

	// Files are what it changes, with their text as it has that, or nothing for
	// what is gone. Before is not set. None: that is not known.
	Files []Change
}
