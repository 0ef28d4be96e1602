package redact

import (
	"slices"
	"testing"
)

func TestHeld(t *testing.T) {
	got := Held([]string{"GITHUB_TOKEN=held-value-1", "my_api_key=held-value-2", "PGPASSWORD=held=value=3", "PATH=/usr/bin:/bin", "X_KEY=short", "SSL_KEY=/etc/ssl/private.pem", "KEYBOARD=qwertzuiop", "TOKEN_FILE=/run/token"})
	if want := []string{"held-value-1", "held-value-2", "held=value=3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
