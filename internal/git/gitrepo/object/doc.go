// Package object reads the objects of a repository, from packs, loose files and
// alternates, as go-git's storer.EncodedObjectStorer. It is code of our own for
// speed: go-git reads the whole index of a pack before it gives the first
// object, 40 times as long as a git log takes. Here a look-up reads the one in
// 256 of the index that can have it. Nothing is read beyond MaxSize, and what
// is damaged is a gitfile.ErrCorrupt that names the object.
package object
