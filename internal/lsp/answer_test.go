package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
)

// TestAnswerBeforeReturn: a handler that is stuck after its request was answered
// holds neither the slot of its request, nor its id, nor the end, and its own
// answer is dropped. The clock is the bubble's.
func TestAnswerBeforeReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		server := funcs{request: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "early" {
				lsp.Answer(ctx, "early", nil)
				lsp.Answer(ctx, "again", nil)
				<-release
				return "late", nil
			}
			return method, nil
		}}
		w := dial(t, server, lsp.Options{Concurrency: 1})
		for _, method := range []string{"early", "normal", "early", "normal"} {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method))
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%q}`, method)
			if got := w.read(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		begin := time.Now()
		_ = w.in.Close()
		if err := <-w.end; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("the end took %v", took)
		}
		close(release)
		if n, _ := w.out.Peek(1); len(n) > 0 {
			t.Errorf("more was sent: %s", w.read())
		}
		lsp.Answer(t.Context(), "nobody asked", nil)
	})
}
