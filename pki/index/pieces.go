package index

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// piece is a unit that needs a vector.
type piece struct {
	seg  *segment.Segment
	unit uint32
	key  embed.Key
	text string
}

// missing is pieces for a file of a segment, as files show it. It has no units
// if that is another text than the segment's.
func (m *meaning) missing(files workspace.Reader, seg *segment.Segment, file uint32) (list []piece, known int) {
	rec := &seg.Files[file]
	data, err := files.ReadFile(rec.Path)
	if err != nil || segment.Hash(data) != rec.Hash {
		return nil, 0
	}
	text, skip := readable(data)
	if skip != 0 {
		return nil, 0
	}
	starts := lineOffsets(text)
	for u := rec.First; u < rec.First+rec.Count; u++ {
		p := piece{seg: seg, unit: u, text: m.Hide(unitText(seg, u, text, starts))}
		p.key = embed.KeyOf(p.text)
		if id, ok := m.vectors.Load().Find(p.key); ok {
			m.give(p, id)
			known++
			continue
		}
		list = append(list, p)
	}
	return list, known
}

// lineOffsets returns where the lines begin.
func lineOffsets(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// UnitText is what an endpoint gets of a unit of a file with some text, secrets
// included.
func UnitText(seg *segment.Segment, unit uint32, data []byte) string {
	text, skip := readable(data)
	if skip != 0 {
		return ""
	}
	return unitText(seg, unit, text, lineOffsets(text))
}

// unitText is what of a unit is sent: where it is, its name, the comment above
// and its beginning.
func unitText(seg *segment.Segment, unit uint32, text []byte, starts []int) string {
	u := &seg.Units[unit]
	name := seg.Files[u.File].Path
	if u.Kind() != segment.FileKind {
		name += ": " + seg.Qualified(unit)
	}
	line := min(max(int(u.Start)-1, 0), len(starts)-1)
	for n := 0; n < 20 && line > 0 && u.Kind() != pki.Heading && u.Kind() != segment.FileKind; n++ {
		above := bytes.TrimSpace(text[starts[line-1]:starts[line]])
		if !bytes.HasPrefix(above, []byte("//")) && !bytes.HasPrefix(above, []byte("#")) && !bytes.HasPrefix(above, []byte("*")) && !bytes.HasPrefix(above, []byte("/*")) && !bytes.HasPrefix(above, []byte("--")) {
			break
		}
		line--
	}
	end := len(text)
	if int(u.End) < len(starts) {
		end = starts[u.End]
	}
	from := min(starts[line], end)
	body := text[from:min(end, from+maxPiece)]
	return name + "\n" + string(bytes.ToValidUTF8(body, nil))
}
