package indexing

import (
	"os"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// embeddings is how answers by meaning are to be had, nil if they are off. Its
// settings are the user's alone: a project has no say in where its text goes.
func embeddings(set *config.Settings, hide *redact.Redactor) *index.Meaning {
	provider := set.String("knowledge.embeddings.provider")
	if provider == "off" {
		return nil
	}
	key := set.String("knowledge.embeddings.key")
	if name := set.String("knowledge.embeddings.keyVariable"); key == "" && name != "" {
		key = os.Getenv(name)
	}
	hide.Know("knowledge.embeddings", []string{key})
	m := &index.Meaning{
		Hide: hide.Text, MaxUnits: set.Int("knowledge.embeddings.maxUnits"),
		Patience: 2 * time.Second, Again: time.Second,
	}
	m.Client, m.Err = embed.New(embed.Options{
		Provider: embed.Provider(provider), URL: set.String("knowledge.embeddings.url"), Model: set.String("knowledge.embeddings.model"), Key: key,
	})
	return m
}
