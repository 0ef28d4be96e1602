package tools

import "strings"

// plainWord are characters that mean nothing to a shell.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"

// ShellWord is a text as one word of a command line in bash.
func ShellWord(text string) string {
	if text != "" && strings.Trim(text, plainWord) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
