package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path"
	"time"
)

// file is one of an archive.
type file struct {
	name string
	mode os.FileMode
	data []byte
}

// archiveDir is the directory in the archive of a target, and its name so far.
func archiveDir(version, t string) string { return "sidecar-ls-" + version + "-" + t }

// pack packs files into a directory of that name. Times are those of the commit, and
// nobody owns them, so that the archive is the same wherever it is made.
func pack(t target, dir string, at time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	as := tarred
	if t.archive() == ".zip" {
		as = zipped
	}
	err := as(&out, dir, at, files)
	return out.Bytes(), err
}

func tarred(out io.Writer, dir string, at time.Time, files []file) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(dir, f.name), Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return z.Close()
}

func zipped(out io.Writer, dir string, at time.Time, files []file) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(dir, f.name), Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}
