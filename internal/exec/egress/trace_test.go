package egress

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTrace: no client sees the password of the user's proxy, which answers TRACE with the
// request that it got where Max-Forwards is 0.
func TestTrace(t *testing.T) {
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodTrace && q.Header.Get("Max-Forwards") == "0" {
			_ = q.Header.Write(w)
		}
		fmt.Fprint(w, "by the proxy: ", q.Method)
	}))
	defer own.Close()
	for method, status := range map[string]int{"TRACE": http.StatusBadRequest, "TRACK": http.StatusOK, "GET": http.StatusOK} {
		for _, proxied := range []bool{false, true} {
			r := begin(t)
			r.by = "http://me:secret@proxy.corp:3128"
			r.at["proxy.corp:3128"] = own.Listener.Addr().String()
			conn, at := r.connect("a.example.org", 80), "/"
			if proxied {
				conn, at = r.proxied(), "http://a.example.org/"
			}
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: a.example.org\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n", method, at)
			all, _ := io.ReadAll(conn)
			if !strings.HasPrefix(string(all), fmt.Sprint("HTTP/1.1 ", status)) || strings.Contains(string(all), "Basic") || status == http.StatusOK && !strings.Contains(string(all), "by the proxy: "+method) {
				t.Errorf("%s: %s", method, all)
			}
		}
	}
}
