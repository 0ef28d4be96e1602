package indexing

import (
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// maxUnits is how many functions, types and sections get vectors; those of tests,
// examples and generated files come last. A vector takes as many bytes of memory as the
// model has dimensions.
const maxUnits = 20_000

// embeddings is how answers by meaning are to be had, nil if they are off. Its
// settings are the user's alone: a project has no say in where its text goes.
func embeddings(set *config.Settings, hide *redact.Redactor) *index.Meaning {
	provider := set.String("knowledge.embeddings.provider")
	if provider == "off" {
		return nil
	}
	key := set.Key("knowledge.embeddings.key")
	hide.Know("knowledge.embeddings", []string{key})
	m := &index.Meaning{
		Hide: hide.Text, MaxUnits: maxUnits,
		Weight:   float32(set.Int("knowledge.embeddings.weight")) / 100,
		Patience: 2 * time.Second, Again: time.Second,
	}
	m.Client, m.Err = embed.New(embed.Options{
		Provider: embed.Provider(provider), URL: set.String("knowledge.embeddings.url"), Model: set.String("knowledge.embeddings.model"), Key: key,
	})
	return m
}
