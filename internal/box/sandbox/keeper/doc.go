// Package keeper runs commands, one at a time, below a process that adopts their orphans
// and ends the whole tree. Whatever commands do, their processes end with the keeper,
// and the keeper with the server.
//
//	the server's side  keeper_linux.go
//	the keeper's       keep_linux.go
//	the end of a tree  tree_linux.go, orphans_linux.go
//	bounds of a tree   cgroup_linux.go
package keeper
