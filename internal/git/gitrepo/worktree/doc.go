// Package worktree makes linked working trees and fills them, without the git
// command where no filter has to run. It is code of our own for speed, as
// go-git decodes every object where a file can be copied, and for safety:
// nothing is written through a link, and git sees no tree that is half made.
package worktree
