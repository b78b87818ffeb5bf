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
// end, a bus or an app. It does not negotiate the passing of file descriptors, so the other end
// cannot send any. The socket's deadline limits it.
func authenticate(socket io.Writer, in *bufio.Reader) error {
	user := hex.EncodeToString([]byte(strconv.Itoa(os.Getuid())))
	if _, err := io.WriteString(socket, "\x00AUTH EXTERNAL "+user+"\r\n"); err != nil {
		return err
	}
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return errors.New("the server does not speak D-Bus")
	}
	if err != nil {
		return err
	}
	if answer, _, _ := strings.Cut(strings.TrimSpace(string(line)), " "); answer != "OK" {
		return fmt.Errorf("the bus did not accept this user: %s", aai.CleanLabel(string(line), 100))
	}
	_, err = io.WriteString(socket, "BEGIN\r\n")
	return err
}
