// Package git is the wing of git repositories: read in process, written by a closed list of git operations, followed
// while they change, and kept free of what would make the user's git run a program.
//
// A room belongs here when it knows the format of a repository. The git tools are in tools/git, worktrees for agents in
// shadow. Both use this wing, as do box and what stands above; it uses sys, text and files.
package git
