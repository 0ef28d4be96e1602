package workspace

// Commit is a commit of a repository that only who made it sees.
type Commit struct {
	ID      string
	Message string // "" for no commit, but for those that are gone

	// Branch is the branch that it was made on; "" is the one that the workspace is on,
	// "HEAD" none. NewBranch: the repository has no such branch.
	Branch    string
	NewBranch bool

	// Forward: ID is a commit that the repository has, and to which the branch goes on. None
	// is made.
	Forward bool

	// Merges are the parents of a merge after the first one, which the repository has.
	Merges []string

	// Ref: it is no commit but this branch or tag, with Message for people. ID is the name of the
	// reference, and Files are those that a switch changes.
	Ref Reference

	// Replaces are the ids of commits before that are gone from where they were
	// made, as after an amend or a reset.
	Replaces []string

	// Files are what it changes, with their text as it has that, or nothing for
	// what is gone. Before is not set. None: that is not known.
	Files []Change

	// Unseen are those of Files that the working tree has as little as before: they are not in
	// a sparse checkout, or the index alone was changed.
	Unseen []string
}
