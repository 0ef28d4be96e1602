// Package index reads and writes the index of a working tree, in go-git's
// types. The reader and the writer are code of our own, for speed (go-git takes
// 70 to 92 ms for an index that is read here in 4 to 7) and for safety: go-git
// writes the file in place, without the lock that keeps git out meanwhile, and
// neither compares the names with those that stay in the working tree.
package index
