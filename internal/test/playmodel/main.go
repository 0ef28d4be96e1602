//go:build unix

// Playmodel plays the language model of a real agent by a script, for pictures:
//
//	playmodel DIR '[{"tool": "Read", "args": {…}}, {"say": "Done."}]'
//
// DIR is what internal/test/clients/testdata/setup.sh prints. The script has the answer
// to each request of the agent: a call of one of its own tools, or words that end its
// turn. After the last one no request is answered.
//
// It prints one line of JSON, {"program": "…", "env": {"NAME": "value", …}}: the path of
// claude-agent-acp, and the environment of a server that starts it with this model. It
// ends when its standard input does.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: playmodel DIR SCRIPT; internal/test/clients/testdata/setup.sh prints DIR")
	}
	var script []answer
	if err := json.Unmarshal([]byte(os.Args[2]), &script); err != nil {
		log.Fatalf("the script has to be a JSON array of answers: %v", err)
	}
	if err := play(os.Args[1], script, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// answer is what the model says to one request.
type answer struct {
	Tool string
	Args any
	Say  string
}

func play(dir string, script []answer, in io.Reader, out io.Writer) error {
	model := clients.NewModel()
	defer model.Close()
	program, env := clients.ClaudeAlone(dir, model)
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	if err := json.NewEncoder(out).Encode(map[string]any{"program": program, "env": vars}); err != nil {
		return err
	}
	go func() {
		for _, a := range script {
			turn := <-model.Turns()
			if a.Tool != "" {
				turn.CallOwn(a.Tool, a.Args)
			} else {
				turn.Say(a.Say)
			}
		}
	}()
	_, err := io.Copy(io.Discard, in)
	return err
}
