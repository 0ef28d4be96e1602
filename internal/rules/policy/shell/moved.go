package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Moved is a command line in which the directories that it changes to by an absolute
// path are elsewhere: in is where a path is. Of other words nobody knows whether they
// are names of files, or texts. A line that bash would not understand is as it was.
func Moved(line string, in func(path string) string) string {
	if readable(line, 0) != nil {
		return line
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return line
	}
	r := &reader{line: &Line{}, text: line}
	var b strings.Builder
	done := uint(0)
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		program := r.word(call.Args[0])
		last := call.Args[len(call.Args)-1]
		if !program.Known || program.Text != "cd" && program.Text != "pushd" {
			return true
		}
		dir := r.word(last)
		if !dir.Known || dir.Glob || in(dir.Text) == dir.Text {
			return true
		}
		quoted, err := syntax.Quote(in(dir.Text), syntax.LangBash)
		if err != nil || last.Pos().Offset() < done {
			return true
		}
		b.WriteString(line[done:last.Pos().Offset()] + quoted)
		done = last.End().Offset()
		return true
	})
	return b.String() + line[done:]
}
