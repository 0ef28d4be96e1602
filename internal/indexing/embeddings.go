package indexing

import (
	"os"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// embeddings is how answers by meaning are to be had, nil if they are off. Its
// settings are the user's alone: a project has no say in where its text goes.
func (k *Knowledge) embeddings() *index.Meaning {
	set := k.o.Settings.Now()
	provider := set.String("knowledge.embeddings.provider")
	if provider == "off" {
		return nil
	}
	key := set.String("knowledge.embeddings.key")
	if name := set.String("knowledge.embeddings.keyVariable"); key == "" && name != "" {
		key = os.Getenv(name)
	}
	k.o.Hide.Know("knowledge.embeddings", []string{key})
	m := &index.Meaning{
		Hide: k.o.Hide.Text, MaxUnits: set.Int("knowledge.embeddings.maxUnits"),
		Patience: 2 * time.Second, Again: time.Second,
	}
	m.Client, m.Err = embed.New(embed.Options{
		Provider: embed.Provider(provider), URL: set.String("knowledge.embeddings.url"), Model: set.String("knowledge.embeddings.model"), Key: key,
	})
	return m
}
