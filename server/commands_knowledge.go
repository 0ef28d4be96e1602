package server

import (
	"context"
	"errors"
)

var errKnowledge = errors.New("the project index is not available: no folder is open in the editor")

// Knowledge is the project index as the commands see it.
type Knowledge interface {
	// Status says how far it is, and starts it if that has not been done.
	Status() (KnowledgeStatus, error)
	// Rebuild begins it again, in the background.
	Rebuild() error
}

// KnowledgeStatus is how far the project index is.
type KnowledgeStatus struct {
	Files     int    `json:"files"`
	Symbols   int    `json:"symbols"`
	Ready     bool   `json:"ready"`               // every file was looked at
	IndexedAt string `json:"indexedAt,omitempty"` // RFC 3339; absent before the first time
	Skipped   int    `json:"skipped"`             // files known by their paths alone
	Generated int    `json:"generated"`           // files known by their names alone
	Bytes     int64  `json:"bytes"`               // of memory
	Looked    int    `json:"looked"`              // files looked at so far, while it is not ready
	Parsed    int    `json:"parsed"`              // files whose symbols come from a parser; the others' from their lines
	Parseable int    `json:"parseable"`           // files that a parser may take, with those
	Error     string `json:"error,omitempty"`     // why the last look at the files ended early

	Embeddings KnowledgeEmbeddings `json:"embeddings,omitzero"` // absent where they are off
}

// KnowledgeEmbeddings is how far the vectors are that answers by meaning need.
type KnowledgeEmbeddings struct {
	State    string `json:"state"` // starting, working, ready, failing
	Model    string `json:"model"`
	Units    int    `json:"units"`           // that are to have vectors
	Embedded int    `json:"embedded"`        // that have
	Error    string `json:"error,omitempty"` // why it is failing
}

func (s *Server) knowledge() (Knowledge, error) {
	if k := s.current().Knowledge; k != nil {
		return k, nil
	}
	return nil, errKnowledge
}

func (s *Server) knowledgeStatus(context.Context, none) (KnowledgeStatus, error) {
	k, err := s.knowledge()
	if err != nil {
		return KnowledgeStatus{}, err
	}
	return k.Status()
}

func (s *Server) knowledgeRebuild(context.Context, none) (none, error) {
	k, err := s.knowledge()
	if err == nil {
		err = k.Rebuild()
	}
	return none{}, err
}
