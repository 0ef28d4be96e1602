// Package child says how this program starts itself in another role: the roles, what
// such a process inherits as files, and the sockets on which it answers.
package child
