package treesitter

// grammar is one language: what tells its declarations and comments apart from
// the rest, and what parses it. The table is never written after start, but for
// what treeParser guards.
type grammar struct {
	lang string

	// lines: a declaration ends with its line. Otherwise with { or ;.
	lines bool
	// comment begins a line comment; /* */ is known wherever it is "//".
	comment string
	// unnamed is the word that stands for the name of what has none.
	unnamed string

	treeParser
}

var grammars = [...]grammar{
	{lang: "bash", lines: true, comment: "#"},
	{lang: "c", comment: "//"},
	{lang: "cpp", comment: "//"},
	{lang: "csharp", comment: "//"},
	{lang: "java", comment: "//"},
	{lang: "javascript", comment: "//"},
	{lang: "kotlin", comment: "//", unnamed: "companion"},
	{lang: "lua", lines: true, comment: "--"},
	{lang: "php", comment: "//"},
	{lang: "python", lines: true, comment: "#"},
	{lang: "ruby", lines: true, comment: "#"},
	{lang: "rust", comment: "//"},
	{lang: "scala", comment: "//"},
	{lang: "swift", comment: "//"},
	{lang: "tsx", comment: "//"},
	{lang: "typescript", comment: "//"},
}

func grammarOf(lang string) *grammar {
	for i := range grammars {
		if grammars[i].lang == lang {
			return &grammars[i]
		}
	}
	return nil
}
