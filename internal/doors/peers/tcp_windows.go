package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OfTCP says who is at the other end of a TCP connection on this machine. Who is not
// found is the user: a program in WSL is in no table here, and no program of ours is
// confined on this system.
func OfTCP(c net.Conn) Who {
	pid, err := tcpOwner(c)
	switch {
	case err != nil:
		return Who{person: true}
	case pid == os.Getpid():
		return Who{own: true, why: "it is this process, which sends what others give it"}
	}
	return whoIs(pid)
}

// tcpOwner is the process that has the other end of a connection over IPv4.
func tcpOwner(c net.Conn) (pid int, err error) {
	here, herr := netip.ParseAddrPort(c.LocalAddr().String())
	there, terr := netip.ParseAddrPort(c.RemoteAddr().String())
	if err := errors.Join(herr, terr); err != nil {
		return 0, err
	}
	table, err := tcpTable()
	if err != nil {
		return 0, err
	}
	// A row is state, address, port, the other address, its port, process: six words, of
	// which addresses and ports are in the order of the network.
	const words, width = 6, 24
	for rows := table; len(rows) >= width; rows = rows[width:] {
		if end(rows[4:]) == there && end(rows[12:]) == here {
			return int(binary.LittleEndian.Uint32(rows[4*(words-1):])), nil
		}
	}
	return 0, errors.New("its connection is not in the system's table")
}

// end is an address and a port of a row.
func end(b []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[:4])), binary.BigEndian.Uint16(b[4:]))
}

// tcpTable has the rows of all connections over IPv4.
func tcpTable() ([]byte, error) {
	const connections = 4 // TCP_TABLE_OWNER_PID_CONNECTIONS
	get := windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")
	if err := get.Find(); err != nil {
		return nil, err
	}
	size := uint32(1 << 14)
	for range tries {
		table := make([]byte, max(size, 4))
		code, _, _ := get.Call(uintptr(unsafe.Pointer(&table[0])), uintptr(unsafe.Pointer(&size)), 0, windows.AF_INET, connections, 0)
		switch syscall.Errno(code) {
		case windows.ERROR_SUCCESS:
			n := uint64(binary.LittleEndian.Uint32(table)) * 24
			return table[4:min(4+n, uint64(len(table)))], nil
		case windows.ERROR_INSUFFICIENT_BUFFER: // size is now the one that is needed
		default:
			return nil, fmt.Errorf("GetExtendedTcpTable: %w", syscall.Errno(code))
		}
	}
	return nil, errors.New("the system's table of connections changes all the time")
}
