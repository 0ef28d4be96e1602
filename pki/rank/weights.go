// Package rank reads a question and orders the units of an index by how well
// they answer it: BM25F over the fields of a unit, with the file and its units
// lending each other a share, and the graph of names around the best hits.
package rank

import "github.com/sidecar-ls/sidecar-ls/pki"

// Weights are the numbers that the ranking is made of.
type Weights struct {
	// Of fields of a unit, and of the body by its length.
	Name, Owner, Header, Doc, Body float32
	Whole                          float32 // more, for a name that is one word of the question as it stands
	K1, B, AvgLen                  float32

	// Of fields of a file.
	FileName, FileDir, FileUnits, FileDoc, FileBody float32
	FileK1, FileB, FileAvgLen                       float32

	// What a unit gets of its file's score, and a file of its best unit's and
	// of its three best.
	OfFile, OfBest, OfThree float32

	// Of the words of a question.
	Title, Text, Code, Tick float32
	Ident                   float32 // an identifier of several words, as a whole
	Exact                   float32 // a name that the question writes as code: dotted, called, in a frame
	Path                    float32 // a path that the question names
	Short                   float32 // an abbreviation of a word, or what it stands for
	Repeat                  float32 // saturation of words that come again

	Tests, Aside, Prose, Data float32 // factors of files
	Kinds                     map[pki.Kind]float32
	Neighbour                 float32 // what a hit gets from hits that it calls, or that call it
}

// Default are the weights that did best, see bench/knowledge.
func Default() Weights {
	return Weights{
		Name: 5, Owner: 2, Header: 1.2, Doc: 2.2, Body: 1, Whole: 1.5,
		K1: 1.4, B: 0.5, AvgLen: 60,
		FileName: 5, FileDir: 2.2, FileUnits: 1.5, FileDoc: 1, FileBody: 1,
		FileK1: 2, FileB: 0.5, FileAvgLen: 800,
		OfFile: 0.5, OfBest: 0.67, OfThree: 0.33,
		Title: 1, Text: 0.5, Code: 0.25, Tick: 1.5,
		Ident: 1.2, Exact: 2, Path: 6, Short: 0.3, Repeat: 1.2,
		Tests: 0.35, Aside: 0.6, Prose: 0.5, Data: 0.5,
		Kinds: map[pki.Kind]float32{
			pki.Function: 1, pki.Method: 1, pki.Class: 0.85, pki.Struct: 0.85, pki.Interface: 0.8, pki.Enum: 0.75, pki.Type: 0.7,
			pki.Constant: 0.55, pki.Variable: 0.55, pki.Module: 0.5, pki.Extension: 0.5, pki.Heading: 0.8, "file": 0.6,
		},
		Neighbour: 0.1,
	}
}
