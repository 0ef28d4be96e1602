package rank

import (
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// table has what the fields of a posting weigh, and what lengths take of it.
type table struct {
	fields [256]struct{ name, doc, rest float32 } // by what the posting says
	body   [segment.LengthClasses]float32         // what one more in the body weighs
	name   [segment.NameParts + 1]float32
	doc    [segment.LengthClasses]float32
	kinds  [segment.Codes]float32 // by the code of a kind

	kind, factor float32 // the most that kinds of units and of files make of a score
}

// rounded makes a bound hold that was computed otherwise than what it bounds.
const rounded = 1.0001

func newTable(w Weights) *table {
	t := new(table)
	for where := range 256 {
		f := &t.fields[where]
		b := byte(where)
		if b&segment.InName != 0 {
			f.name = w.Name
			if b&segment.AsWhole != 0 {
				f.name += w.Whole
			}
		}
		if b&segment.InDoc != 0 {
			f.doc = w.Doc
		}
		if b&segment.InOwner != 0 {
			f.rest += w.Owner
		}
		if b&segment.InHeader != 0 {
			f.rest += w.Header
		}
	}
	for c := range segment.LengthClasses {
		n := segment.ClassLength(uint8(c))
		t.body[c] = w.Body / (1 - w.B + w.B*n/w.AvgLen)
		t.doc[c] = 1 / (1 - w.BDoc + w.BDoc*n/w.AvgDoc)
	}
	for code := range t.kinds {
		t.kinds[code] = w.Files
		switch k, _ := segment.KindOf(uint8(code)); k {
		case pki.Function, pki.Method:
			t.kinds[code] = 1
		case pki.Class, pki.Struct, pki.Interface, pki.Enum, pki.Type:
			t.kinds[code] = w.Types
		case pki.Constant, pki.Variable:
			t.kinds[code] = w.Values
		}
		t.kind = max(t.kind, t.kinds[code])
	}
	t.factor = max(1, w.Tests) * max(1, w.Aside) * max(1, w.Prose) * max(1, w.Data) * rounded
	for n := range t.name {
		t.name[n] = 1 / (1 - w.BName + w.BName*float32(n)/2)
	}
	return t
}

// weight is the weight of a posting in its unit, saturated.
func (t *table) weight(u segment.Form, where byte, k1 float32) float32 {
	f := &t.fields[where]
	tf := f.rest + f.name*t.name[u.Parts()] + f.doc*t.doc[u.Doc()] + segment.BodyCount[where&7]*t.body[u.Length()]
	return tf / (k1 + tf)
}
