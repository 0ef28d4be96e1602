package egress

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// TestMakesPlaceWhileAsked: a connection that makes place while a person is asked about its
// host ends neither the server nor stays open to the host.
func TestMakesPlaceWhileAsked(t *testing.T) {
	for _, allow := range []bool{false, true} {
		t.Run(fmt.Sprint(allow), func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			r := begin(t)
			r.serves("a.example.org", 22, l.Addr().String())
			asked, answer := make(chan bool), make(chan bool)
			r.answer = func(q dispatch.Reach) dispatch.Reached {
				if q.Host != "a.example.org" {
					return dispatch.Reached{Person: true}
				}
				asked <- true
				<-answer
				return dispatch.Reached{Allow: allow, Person: true}
			}
			first := r.connect("a.example.org", 22)
			<-asked
			r.net.Hosts = []hosts.Host{{Name: "b.example.org"}}
			r.serves("b.example.org", 22, l.Addr().String())
			for range maxPlaces {
				r.connect("b.example.org", 22)
			}
			if _, err := io.ReadAll(first); err != nil {
				t.Fatal(err)
			}
			for range maxPlaces { // those of b; they say nothing either
				c, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
			}
			close(answer)
			if allow {
				c, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				if _, err := io.ReadAll(c); err != nil { // the server closes it
					t.Error(err)
				}
				c.Close()
			}
			c := r.connect("c.example.org", 22) // control: the server is there, and refuses
			if _, err := io.ReadAll(c); err != nil {
				t.Error(err)
			}
		})
	}
}
