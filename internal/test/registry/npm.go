package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Host has the package leftish for npm, which Install installs.
const (
	Host    = "packages.example.org"
	Install = "export npm_config_registry=http://" + Host + "; npm install leftish"
)

// leftish exports Says; LeftishFile is its module, once it is installed.
const (
	Says        = "leftish works"
	LeftishFile = "node_modules/leftish/index.js"
	LeftishText = "module.exports = '" + Says + "'\n"
)

// User are the files of a project whose tests need leftish, which it has not installed.
var User = map[string]string{
	".gitignore":   "node_modules/\n",
	"package.json": `{"name": "user", "version": "1.0.0", "scripts": {"test": "node test.js"}}` + "\n",
	"test.js":      "console.log(require('leftish'))\n",
}

// NewNPM starts a server that has leftish. Close ends it.
func NewNPM() (*Server, error) {
	s := New()
	err := s.addNPM("leftish", "1.0.0", map[string]string{"package.json": `{"name": "leftish", "version": "1.0.0"}`, "index.js": LeftishText})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// addNPM adds a package without dependencies.
func (s *Server) addNPM(name, version string, files map[string]string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for file, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(1e9, 0)}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return err
	}
	type object = map[string]any
	sum := sha512.Sum512(b.Bytes())
	tarball := fmt.Sprintf("%s/-/%s-%s.tgz", name, name, version)
	about, err := json.Marshal(object{"name": name, "dist-tags": object{"latest": version}, "versions": object{version: object{
		"name": name, "version": version,
		"dist": object{"tarball": "http://" + Host + "/" + tarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
	}}})
	if err != nil {
		return err
	}
	s.Add("packages/"+name, about)
	s.Add("packages/"+tarball, b.Bytes())
	return nil
}
