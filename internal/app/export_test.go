package app

// Leave is what a server does when its editor has left.
var Leave = leave
