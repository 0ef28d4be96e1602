package workspace

// RefKind is how commands changed a reference of their repository.
type RefKind string

// The kinds; "" is none.
const (
	RefTag    RefKind = "tag"    // a new tag
	RefBranch RefKind = "branch" // a new branch
	RefSwitch RefKind = "switch" // HEAD is on another branch
)

// Reference is a branch or a tag that only who made it sees.
type Reference struct {
	Kind    RefKind
	Dir     string // of the view, whose repository has it
	Name    string // without refs/heads/ or refs/tags/
	New     bool   // of a switch: the repository has no such branch
	Commit  string // the commit that it names
	Own     bool   // Commit is the ID of a Commit that is not made yet
	Message string // of an annotated tag; "" is none
}
