package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// console is that of this process: two files, of which neither does both.
type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }

// ownTerminal is the console of this process. What a program starts without a window has
// a console too, in which nobody reads or types.
func ownTerminal() (io.ReadWriteCloser, error) {
	if window, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow").Call(); window == 0 {
		return nil, errNoTerminal
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return console{in, out}, nil
}
