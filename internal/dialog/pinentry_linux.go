package dialog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// pinentryRoom is how much text fits in one line of the Assuan protocol, which
// has 1000 bytes ("Client requests" in the manual of libassuan), with room for the
// command and for escapes.
const pinentryRoom = 900

// Codes of GnuPG's errors (libgpg-error, err-codes.h), the lower 16 bits of what
// pinentry says after ERR.
const (
	gpgTimeout      = 62
	gpgCanceled     = 99
	gpgNotConfirmed = 114
	gpgFullCanceled = 198
)

// pinentry shows up to three buttons: SETCANCEL's has the focus and is what Escape
// means.
func pinentry(program string, env func() []string) shower {
	return shower{name: program, most: 3, room: pinentryRoom, show: func(ctx context.Context, p page, process func(int)) (chosen int, err error) {
		cmd := command(ctx, env(), program)
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 0, err
		}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		process(cmd.Process.Pid)
		defer func() {
			_ = cmd.Cancel() // it may not end by itself
			_ = cmd.Wait()   // it was told to end
			if ctx.Err() != nil {
				chosen, err = 0, ctx.Err()
			}
		}()
		a := assuan{in: in, out: bufio.NewReader(out)}
		return a.confirm(ctx, p)
	}}
}

// assuan talks with a pinentry.
type assuan struct {
	in  io.Writer
	out *bufio.Reader
}

// confirm asks for one of up to three buttons.
func (a assuan) confirm(ctx context.Context, p page) (int, error) {
	if _, _, err := a.reply(); err != nil { // it greets first
		return 0, err
	}
	flavor, code, err := a.say("GETINFO flavor")
	if err != nil || code != 0 || !graphical(flavor) {
		return 0, fmt.Errorf("this pinentry has no windows (%q, %d): %w", flavor, code, orNone(err))
	}
	labels := accelerated(p.buttons, "_")
	lines := []string{"SETTITLE " + escape(p.title), "SETDESC " + escape(p.text), "SETCANCEL " + escape(labels[0])}
	if deadline, ok := ctx.Deadline(); ok {
		// The window goes also when this process cannot see to it any more.
		lines = append(lines, "SETTIMEOUT "+strconv.Itoa(int(time.Until(deadline).Seconds())+2))
	}
	for i, set := range []string{"SETOK ", "SETNOTOK "} {
		if i+1 < len(labels) {
			lines = append(lines, set+escape(labels[i+1]))
		}
	}
	// Not every pinentry knows it; the person goes on using the keyboard.
	if _, _, err := a.say("OPTION no-grab"); err != nil {
		return 0, err
	}
	for _, line := range lines {
		if _, code, err := a.say(line); err != nil || code != 0 {
			return 0, fmt.Errorf("pinentry refused %.12q with code %d: %w", line, code, orNone(err))
		}
	}
	_, code, err = a.say("CONFIRM")
	switch {
	case err != nil:
		return 0, err
	case code == 0:
		return 1, nil
	case code == gpgNotConfirmed && len(labels) > 2:
		return 2, nil
	case code == gpgNotConfirmed || code == gpgCanceled || code == gpgFullCanceled:
		return 0, nil
	case code == gpgTimeout:
		return 0, context.DeadlineExceeded
	}
	return 0, fmt.Errorf("pinentry failed with code %d", code)
}

// graphical reports whether a flavor has buttons of its own that are known to
// work as wanted. One that writes to terminals would write into somebody's work.
func graphical(flavor string) bool {
	flavor, fallback, _ := strings.Cut(flavor, ":")
	return (strings.HasPrefix(flavor, "gtk") || strings.HasPrefix(flavor, "qt")) && fallback != "tty"
}

// say sends a line and returns the data and the code of the reply; 0 is OK.
func (a assuan) say(line string) (data string, code int, err error) {
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		return "", 0, err
	}
	return a.reply()
}

func (a assuan) reply() (data string, code int, err error) {
	for {
		line, err := a.out.ReadString('\n')
		if err != nil {
			return "", 0, fmt.Errorf("pinentry hung up: %w", err)
		}
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "OK":
			return data, 0, nil
		case "D":
			data += rest
		case "ERR":
			number, _, _ := strings.Cut(rest, " ")
			n, err := strconv.ParseUint(number, 10, 32)
			if err != nil || n&0xffff == 0 {
				return "", 0, fmt.Errorf("pinentry said %.60q", line)
			}
			return data, int(n & 0xffff), nil
		}
	}
}

// escape makes one argument of an Assuan command.
func escape(text string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D").Replace(text)
}

// orNone stands in for the error that a %w wants.
func orNone(err error) error {
	if err == nil {
		return errNoWay
	}
	return err
}
