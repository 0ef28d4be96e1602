package commands

import (
	"context"
)

func knowledgeStatus(_ context.Context, k Knowledge, _ none) (KnowledgeStatus, error) {
	return k.Status()
}

func knowledgeRebuild(_ context.Context, k Knowledge, _ none) (none, error) {
	return none{}, k.Rebuild()
}
