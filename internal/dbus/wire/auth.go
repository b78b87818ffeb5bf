package wire

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// authenticate authenticates by the mechanism EXTERNAL: the kernel reports our user to the other
// end, a bus or an app. It negotiates the passing of file descriptors only on request. The socket's deadline limits it.
func authenticate(socket io.Writer, in *bufio.Reader, files bool) error {
	user := hex.EncodeToString([]byte(strconv.Itoa(os.Getuid())))
	if _, err := io.WriteString(socket, "\x00AUTH EXTERNAL "+user+"\r\n"); err != nil {
		return err
	}
	answer, line, err := readAnswer(in)
	if err != nil {
		return err
	}
	if answer != "OK" {
		return fmt.Errorf("the bus did not accept this user: %s", line)
	}
	if files {
		if _, err := io.WriteString(socket, "NEGOTIATE_UNIX_FD\r\n"); err != nil {
			return err
		}
		if answer, line, err = readAnswer(in); err != nil {
			return err
		}
		if answer != "AGREE_UNIX_FD" {
			return fmt.Errorf("the bus does not pass files: %s", line)
		}
	}
	_, err = io.WriteString(socket, "BEGIN\r\n")
	return err
}

// readAnswer returns the command of a line of the authentication, and the whole line.
func readAnswer(in *bufio.Reader) (command, line string, err error) {
	raw, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", "", errors.New("the server does not speak D-Bus")
	}
	command, _, _ = strings.Cut(strings.TrimSpace(string(raw)), " ")
	return command, aai.CleanLabel(string(raw), 100), err
}
