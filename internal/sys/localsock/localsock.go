// Package localsock makes sockets by which processes of one user reach each other on
// one machine: sockets in a directory, on Windows named pipes. Half of a connection can
// be closed (CloseWrite).
package localsock
