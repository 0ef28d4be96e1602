package gitrepo

// Renamed says that a file that is new was another one before.
type Renamed struct {
	Old, New   int // indices
	Similarity int // in percent
}

// Renames pairs files that are gone with files that are new, as git does. read
// returns the bytes of a file that is gone, or new; what it fails at is compared
// with nothing.
func Renames(gone, added []Found, read func(f Found, gone bool) ([]byte, error)) []Renamed {
	m := renamer{}
	files := func(list []Found) []*renameFile {
		out := make([]*renameFile, len(list))
		for i, f := range list {
			out[i] = &renameFile{at: i, path: f.Path, side: side{mode: f.Mode, hash: f.Hash}}
		}
		return out
	}
	m.gone, m.new = files(gone), files(added)
	old := make(map[*renameFile]bool, len(gone))
	for _, f := range m.gone {
		old[f] = true
	}
	m.read = func(f *renameFile) ([]byte, error) {
		list := added
		if old[f] {
			list = gone
		}
		data, err := read(list[f.at], old[f])
		if err != nil {
			return nil, nil //nolint:nilerr // an empty file is like no other
		}
		return data, nil
	}
	_ = m.run() // it can't fail: read doesn't
	var out []Renamed
	for _, f := range m.new {
		if f.match == nil {
			continue
		}
		out = append(out, Renamed{f.match.at, f.at, f.score * 100 / maxScore})
	}
	return out
}
