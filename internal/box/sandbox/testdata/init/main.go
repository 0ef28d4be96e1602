// Init is the program that stands between the tests and their commands. It is
// built without the race detector, which takes a tenth of a second to start.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
)

func main() {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "serve":
		os.Exit(serve(os.Args[2], os.Args[3]))
	case len(os.Args) == 4 && os.Args[1] == "http":
		os.Exit(serveHTTP(os.Args[2], os.Args[3]))
	case len(os.Args) == 4 && os.Args[1] == "ask":
		os.Exit(ask(os.Args[2], os.Args[3]))
	}
	os.Exit(sandbox.Init(os.Args[2:], os.Stdout, os.Stderr, nil))
}

// serve says the same to everybody who connects.
func serve(addr, text string) int {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("listens")
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
}

// serveHTTP serves a text with the name that was asked for, and at /echo what is said to
// it after an upgrade.
func serveHTTP(addr, text string) int {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s at %s", text, r.Host) })
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(c, rw)
	})
	fmt.Println(http.ListenAndServe(addr, nil))
	return 1
}

// ask prints what one says who listens.
func ask(network, addr string) int {
	c, err := net.DialTimeout(network, addr, 3*time.Second)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, _ = io.Copy(os.Stdout, c)
	return 0
}
