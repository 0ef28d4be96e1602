package shells

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os/exec"
	"time"
	"unicode/utf16"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// The lines of PowerShell are read by its own parser, in a process that parses and
// runs nothing: policy/shell reads what it prints.

//go:embed parse.ps1
var parseScript string

// parseVariable has the line.
const parseVariable = "SIDECAR_PARSE"

// parseTime bounds how long PowerShell may take to start and to parse a line.
const parseTime = 20 * time.Second

// Parse has PowerShell parse a line, and returns what parse.ps1 says of it.
func (s Shell) Parse(ctx context.Context, line string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, parseTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Path, "-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", encoded(parseScript))
	cmd.WaitDelay = time.Second
	// ASCII alone, whatever the code page of the console is.
	cmd.Env = append(cmd.Environ(), parseVariable+"="+base64.StdEncoding.EncodeToString([]byte(line)))
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := proctree.Run(cmd); err != nil {
		return nil, fmt.Errorf("PowerShell did not parse it: %w", err)
	}
	return out.Bytes(), nil
}

// encoded is a script as PowerShell takes it on its command line.
func encoded(script string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(script)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return base64.StdEncoding.EncodeToString(b)
}
