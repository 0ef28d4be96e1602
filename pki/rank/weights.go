// Package rank reads a question and orders the units of an index by how well
// they answer it: BM25F over the fields of a unit, with the file and its units
// lending each other a share, and the graph of names around the best hits.
package rank

// Weights are the numbers that the ranking is made of.
type Weights struct {
	// Of fields of a unit, and of the body by its length.
	Name, Owner, Header, Doc, Body float32
	Whole                          float32 // more, for a name that is one word of the question as it stands
	K1, B, AvgLen                  float32
	BName, BDoc, AvgDoc            float32 // what the lengths of name and comment take

	// Of fields of a file.
	FileName, FileDir, FileUnits, FileDoc, FileBody float32
	FileK1, FileB, FileAvgLen                       float32

	// What a unit gets of its file's score, and a file of its best unit's and
	// of its three best.
	OfFile, OfBest, OfThree float32

	// Of the words of a question.
	Title, Text, Code, Tick float32
	Ident                   float32 // an identifier of several words, as a whole
	Pair                    float32 // two words side by side, as the name that they make
	Scope                   float32 // what a title says before a colon
	Exact                   float32 // a name that the question writes as code: dotted, called, in a frame
	Path                    float32 // a path that the question names
	Short                   float32 // an abbreviation of a word, or what it stands for
	Faint                   float32 // a word that says what is to be done more than where
	Repeat                  float32 // saturation of words that come again

	// What is common says little, and costs most: the places of the rarer terms
	// put the candidates first, and those of all, as far as they are in the
	// candidates' files, tell these from each other.
	FirstPlaces int     // of the rarer terms, at most
	FewPlaces   int     // that are never too many
	Places      float32 // for each unit of the project, of all terms
	Terms       int     // of a question: a long issue has more, and most of them say something else

	Tests, Aside, Prose, Data float32 // factors of files
	Types, Values, Files      float32 // factors of units that are no functions: types, constants and variables, files and the rest

	// What was learned of what speaks for a unit and for a file, in the second
	// look. Without either there is none.
	Unit, File Judge
}

// Default are the weights that did best over questions, issues and commit
// messages whose answers are known. Those of words were climbed to one by one;
// Unit and File are learned, and make bench-knowledge with CACHE learns them
// again.
func Default() Weights {
	return Weights{
		Name: 6.5, Owner: 5, Header: 1.56, Doc: 0.9, Body: 1.3, Whole: 1.5,
		K1: 0.49, B: 0.5, AvgLen: 60, BName: 0.36, BDoc: 0.354, AvgDoc: 16,
		FileName: 7.16, FileDir: 9, FileUnits: 1.77, FileDoc: 0.77, FileBody: 0.59,
		FileK1: 4.4, FileB: 0.845, FileAvgLen: 800,
		OfFile: 1.86, OfBest: 0.52, OfThree: 0.43,
		Title: 1, Text: 0.385, Code: 0.19, Tick: 1.15,
		Ident: 1.4, Pair: 0.5, Scope: 1, Exact: 0.54, Path: 2.7, Short: 0.354, Faint: 0.4, Repeat: 1.2,
		FirstPlaces: 125_000, FewPlaces: 2_000, Places: 0.8, Terms: 60,
		Tests: 0.4, Aside: 0.6, Prose: 0.5, Data: 0.5, Types: 0.85, Values: 0.6, Files: 0.6,
		Unit: judges()[0], File: judges()[1],
	}
}
