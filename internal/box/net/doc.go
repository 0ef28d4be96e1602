// Package net gives the commands of a session a localhost of their own: a network
// namespace with nothing but lo in it, from which no way leads out. A process of ours,
// the resident, lives in it. It starts what is to run there, because a program of Go's
// can't enter a namespace of users, and it connects to ports there.
//
//	the server's side  network_linux.go, ports_linux.go
//	the resident       resident_linux.go
//	by session         networks.go
package net
