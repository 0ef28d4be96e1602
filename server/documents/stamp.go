package documents

import (
	"io/fs"
	"time"
)

// An open document's time of modification is that of its last change, not the
// file's: whoever keeps what was read sees by it that the text is another.

// stamped is a file's info with the document's time.
type stamped struct {
	fs.FileInfo
	time time.Time
}

func (s stamped) ModTime() time.Time { return s.time }

func (e *Editor) stamp(name string, info fs.FileInfo) fs.FileInfo {
	if doc := e.Document(name); doc != nil && info.Mode().IsRegular() {
		return stamped{info, doc.changed}
	}
	return info
}

// Stat is that of the files, with the times of open documents.
func (e *Editor) Stat(name string) (fs.FileInfo, error) {
	info, err := e.Files.Stat(name)
	if err != nil {
		return nil, err
	}
	return e.stamp(name, info), nil
}

// Open is that of the files, with the times of open documents.
func (e *Editor) Open(name string) (fs.File, error) {
	f, err := e.Files.Open(name)
	if err != nil || e.Document(name) == nil {
		return f, err
	}
	return openDocument{f, e, name}, nil
}

// openDocument is the opened file of a document.
type openDocument struct {
	fs.File
	e    *Editor
	name string
}

func (d openDocument) Stat() (fs.FileInfo, error) {
	info, err := d.File.Stat()
	if err != nil {
		return nil, err
	}
	return d.e.stamp(d.name, info), nil
}
