package commands

import "context"

// getBackend describes the language model that the settings name.
func getBackend(_ context.Context, r Reports, _ none) (any, error) { return r.Backend() }

// verifyAudit reports whether the record of calls is as it was written.
func verifyAudit(_ context.Context, r Reports, _ none) (any, error) { return r.Audit() }
