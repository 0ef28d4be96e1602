// Package sys is the wing of what systems do differently: files and locks, processes, sockets between processes, shells,
// the keyring, where programs and the user's directories are.
//
// A room belongs here when it hides a difference between operating systems or keeps a file whole, and knows nothing of
// agents, tools or editors. What a program may do is decided above. Everyone may use this wing; it uses nothing of ours.
package sys
