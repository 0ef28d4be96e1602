package workspace

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// named is a FileInfo under the name it was asked for.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// dirFile is an open directory whose info has its name in the view.
type dirFile struct {
	*os.File
	name string
}

func (f dirFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return named{info, path.Base(f.name)}, nil
}

// virtualDir is the info of a directory that only the view has.
type virtualDir string

func (v virtualDir) Name() string     { return string(v) }
func (virtualDir) Size() int64        { return 0 }
func (virtualDir) Mode() fs.FileMode  { return fs.ModeDir | 0o755 }
func (virtualDir) ModTime() time.Time { return time.Time{} }
func (virtualDir) IsDir() bool        { return true }
func (virtualDir) Sys() any           { return nil }

// listedDir is an open directory whose entries are known.
type listedDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry
	pos     int
}

func (d *listedDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *listedDir) Close() error               { return nil }

func (d *listedDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: syscall.EISDIR}
}

func (d *listedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.entries[d.pos:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && n < len(rest) {
		rest = rest[:n]
	}
	d.pos += len(rest)
	return slices.Clone(rest), nil
}

// layered is the info of a file of a layer.
type layered struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (l layered) Name() string       { return l.name }
func (l layered) Size() int64        { return l.size }
func (l layered) Mode() fs.FileMode  { return l.mode }
func (l layered) ModTime() time.Time { return l.time }
func (layered) IsDir() bool          { return false }
func (layered) Sys() any             { return nil }

// layeredFile is an open file of a layer.
type layeredFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *layeredFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *layeredFile) Close() error               { return nil }
