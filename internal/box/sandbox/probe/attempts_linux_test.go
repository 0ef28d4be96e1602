package probe

import (
	"net"
	"testing"
)

// TestAskOverUDP: who answers is heard, and a socket that hears itself is no answer. The
// system gives a socket the port that it asks once in some thousand times.
func TestAskOverUDP(t *testing.T) {
	there, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	go answers(there)
	if err := ask(there.LocalAddr().String()); err != nil {
		t.Errorf("who answers is not heard: %v", err)
	}
	free, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := free.LocalAddr().(*net.UDPAddr)
	free.Close()
	itself, err := net.DialUDP("udp", at, at)
	if err != nil {
		t.Fatal(err)
	}
	defer itself.Close()
	if askOver(itself) == nil {
		t.Error("a socket that hears itself has been answered")
	}
}
