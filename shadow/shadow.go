// Package shadow gives agents working trees of their own: linked worktrees
// below .sidecar/shadows, made from the main tree, compared with it and merged
// back. It knows neither sessions nor the review queue: a merge is changes as
// data.
package shadow
