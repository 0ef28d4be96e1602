// Network measures what a session's way to other hosts costs, against the same client without it:
//
//	go run ./bench/network -server bin/sidecar-ls [-n rounds] [-size MiB]
//
// curl loads from a server on this machine: directly, by the host's name in a session's network,
// and through the proxy there; each way once a round, one after the other. Shown are the medians
// of MB/s and of the time to the first byte in milliseconds, plain, over TLS, and from a server
// that sends at most 250 MB/s; and how long 200 connections at once take.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/egress"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "bin/sidecar-ls", "the server's program")
	rounds := flag.Int("n", 7, "rounds")
	size := flag.Int("size", 512, "MiB of a load")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *server, *rounds, int64(*size)<<20)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// listed allows the bench's hosts.
type listed []hosts.Host

func (l listed) Network(string) hosts.Network                            { return hosts.Network{Hosts: l} }
func (listed) Idle(string, string) bool                                  { return false }
func (listed) MayReach(context.Context, dispatch.Reach) dispatch.Reached { return dispatch.Reached{} }

// source sends so many bytes, as fast as it can or at most so many a second.
func source(size int64, perSecond int64) http.HandlerFunc {
	block := bytes.Repeat([]byte("0123456789abcdef"), 16<<10) // 256 KiB
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			_, _ = w.Write(block[:16])
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		began := time.Now()
		for sent := int64(0); sent < size; sent += int64(len(block)) {
			if _, err := w.Write(block[:min(int64(len(block)), size-sent)]); err != nil {
				return
			}
			if perSecond > 0 {
				time.Sleep(time.Duration(sent)*time.Second/time.Duration(perSecond) - time.Since(began))
			}
		}
	}
}

// bench runs curl outside, and in a session's network.
type bench struct {
	box   *sandbox.Sandbox
	root  string
	names *spec.Names
	ended chan struct{}
}

// curl loads from an address, and returns MB/s and milliseconds to the first byte.
func (b bench) curl(ctx context.Context, inside bool, args ...string) (speed, first float64, err error) {
	argv := append([]string{"curl", "-sSk", "--no-progress-meter", "-o", os.DevNull, "-w", "%{speed_download} %{time_starttransfer}"}, args...)
	var out bytes.Buffer
	run := func() error {
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		c.Stdout, c.Stderr = &out, os.Stderr
		return c.Run()
	}
	if inside {
		c, err := b.box.Command(ctx, spec.Spec{Root: b.root, Env: spec.Environ(os.Environ()), Session: "bench", Ended: b.ended, Names: b.names}, b.root, argv...)
		if err != nil {
			return 0, 0, err
		}
		c.Stdout, c.Stderr = &out, os.Stderr
		run = c.Run
	}
	if err := run(); err != nil {
		return 0, 0, fmt.Errorf("%v: %w", args, err)
	}
	_, err = fmt.Sscan(out.String(), &speed, &first)
	return speed / 1e6, first * 1e3, err
}

func run(ctx context.Context, server string, rounds int, size int64) error {
	self, err := filepath.Abs(server)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "bench-network")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	plain, secure, slow := httptest.NewServer(source(size, 0)), httptest.NewTLSServer(source(size, 0)), httptest.NewServer(source(size, limited))
	defer plain.Close()
	defer secure.Close()
	defer slow.Close()
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	list := listed{
		{Name: "plain.example.org", Private: true, Address: at(plain)}, {Name: "secure.example.org", Private: true, Address: at(secure)}, {Name: "slow.example.org", Private: true, Address: at(slow)},
	}
	gate := egress.New(egress.Options{Sessions: list, People: list})
	defer gate.Close()
	b := bench{root: root, names: &spec.Names{Ports: hosts.Ports(list)}, ended: make(chan struct{})}
	b.box = sandbox.Open(self, sandbox.Options{Hand: func(j *boxnet.Joint, a boxnet.Arrival, c *net.TCPConn) {
		gate.Take(egress.Connection{Session: j.Session(), Ended: j.Left(), Host: a.Name, Port: a.Port, Proxy: a.Proxy, Conn: c})
	}})
	defer b.box.Close()
	defer close(b.ended)
	proxy := "http://127.0.0.1:" + strconv.Itoa(boxnet.ProxyPort)
	fmt.Printf("%-34s %9s %9s %9s   %s\n", "", "direct", "by name", "by proxy", "of direct")
	for _, row := range []struct{ what, direct, named string }{
		{"plain, MB/s", plain.URL, "http://plain.example.org"},
		{"TLS, MB/s", secure.URL, "https://secure.example.org"},
		{"a server of 250 MB/s", slow.URL, "http://slow.example.org"},
		{"first byte, ms", plain.URL + "/small", "http://plain.example.org/small"},
	} {
		var all [3][]float64
		for range rounds {
			for way, args := range [][]string{{row.direct}, {row.named}, {"-p", "-x", proxy, row.named}} {
				speed, first, err := b.curl(ctx, way > 0, args...)
				if err != nil {
					return err
				}
				if strings.HasSuffix(row.direct, "/small") {
					speed = first
				}
				all[way] = append(all[way], speed)
			}
		}
		var m [3]float64
		for i, list := range all {
			slices.Sort(list)
			m[i] = list[len(list)/2]
		}
		fmt.Printf("%-34s %9.1f %9.1f %9.1f   %.0f %%, %.0f %%\n", row.what, m[0], m[1], m[2], 100*m[1]/m[0], 100*m[2]/m[0])
	}
	began := time.Now()
	if _, _, err := b.curl(ctx, true, "--parallel", "--parallel-immediate", "--parallel-max", strconv.Itoa(atOnce), fmt.Sprintf("http://plain.example.org/small?[1-%d]", atOnce)); err != nil {
		return err
	}
	fmt.Printf("%d connections at once: %d ms\n", atOnce, time.Since(began).Milliseconds())
	return nil
}

const (
	limited = 250e6 // bytes a second
	atOnce  = 200
)
