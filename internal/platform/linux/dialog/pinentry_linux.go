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

// pinentryMaxBytes is the maximum text for one line of the Assuan protocol. A line has
// 1000 bytes ("Client requests" in the manual of libassuan), including the command and
// escapes.
const pinentryMaxBytes = 900

// Codes of GnuPG's errors (libgpg-error, err-codes.h), the lower 16 bits of the number
// after pinentry's ERR.
const (
	gpgTimeout      = 62
	gpgCanceled     = 99
	gpgNotConfirmed = 114
	gpgFullCanceled = 198
)

// pinentry shows up to three buttons: the one of SETCANCEL has the focus and is the result
// of Escape.
func pinentry(program string, env func() []string) presenter {
	return presenter{name: program, maxButtons: 3, maxBytes: pinentryMaxBytes,
		show: conversation(program, env, assuan.confirm), hidden: pinentryHidden(program, env)}
}

// pinentryGNOME returns the presenter for pinentry-gnome3. It has only two buttons, and Return presses OK,
// which would accept by accident. So the person types the number of an answer from a list; another
// number is a refusal. Its window belongs to GNOME Shell or to gcr-prompter.
func pinentryGNOME(program string, env func() []string) presenter {
	const most = 8
	return presenter{name: program, maxButtons: most, isList: true, maxBytes: pinentryMaxBytes - most*maxLabel,
		appearTime: bigToolkitStart, otherProcess: true, show: conversation(program, env, assuan.number),
		hidden: pinentryHidden(program, env)}
}

// conversation returns the show function of a presenter: it starts the pinentry and runs
// ask on its connection.
func conversation(program string, env func() []string,
	ask func(assuan, context.Context, page) (int, error)) func(context.Context, page, func(int)) (int, error) {
	return func(ctx context.Context, p page, process func(int)) (chosen int, err error) {
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
			_ = cmd.Wait()   // it was killed
			if ctx.Err() != nil {
				chosen, err = 0, ctx.Err()
			}
		}()
		a := assuan{in: in, out: bufio.NewReader(out)}
		return ask(a, ctx, p)
	}
}

// assuan is a connection to a pinentry.
type assuan struct {
	in  io.Writer
	out *bufio.Reader
}

// confirm shows up to three buttons and returns the index of the pressed one.
func (a assuan) confirm(ctx context.Context, p page) (int, error) {
	labels := escapeMnemonics(p.buttons)
	lines := []string{"SETDESC " + escape(p.text)}
	for i, set := range []string{"SETOK ", "SETNOTOK "} {
		if i+1 < len(labels) {
			lines = append(lines, set+escape(labels[i+1]))
		}
	}
	_, code, err := a.ask(ctx, p, "CONFIRM", lines)
	switch {
	case err != nil:
		return 0, err
	case code == gpgNotConfirmed && len(labels) > 2:
		return 2, nil
	case code == 0:
		return 1, nil
	}
	return 0, nil
}

// number asks for the number of a button. Any other input, or none, is the refusal.
func (a assuan) number(ctx context.Context, p page) (int, error) {
	text := p.text + "\n"
	for i, label := range p.buttons[1:] {
		text += fmt.Sprintf("\n%d  %s", i+1, label)
	}
	typed, code, err := a.ask(ctx, p, "GETPIN", []string{"SETDESC " + escape(text), "SETPROMPT " + escape(p.number)})
	n, wrong := strconv.Atoi(strings.TrimSpace(typed))
	if err != nil || code != 0 || wrong != nil || n < 0 || n >= len(p.buttons) {
		return 0, err
	}
	return n, nil
}

// ask sends the page's settings, the lines in more, and the command. It returns the data
// and the code of the answer: 0, or that of a refusal.
func (a assuan) ask(ctx context.Context, p page, command string, more []string) (data string, code int, err error) {
	if _, _, err := a.reply(); err != nil { // it greets first
		return "", 0, err
	}
	flavor, code, err := a.say("GETINFO flavor")
	if err != nil || code != 0 || !graphical(flavor) {
		return "", 0, fmt.Errorf("this pinentry has no windows (%q, %d): %w", flavor, code, orNone(err))
	}
	lines := append(more, "SETTITLE "+escape(p.title), "SETCANCEL "+escape(escapeMnemonics(p.buttons)[0]))
	if deadline, ok := ctx.Deadline(); ok {
		// The window closes even if this process can no longer close it.
		lines = append(lines, "SETTIMEOUT "+strconv.Itoa(int(time.Until(deadline).Seconds())+2))
	}
	// Not every pinentry supports it. With it the person can use the keyboard elsewhere.
	if _, _, err := a.say("OPTION no-grab"); err != nil {
		return "", 0, err
	}
	for _, line := range lines {
		if _, code, err := a.say(line); err != nil || code != 0 {
			return "", 0, fmt.Errorf("pinentry refused %.12q with code %d: %w", line, code, orNone(err))
		}
	}
	data, code, err = a.say(command)
	switch code {
	case 0, gpgNotConfirmed, gpgCanceled, gpgFullCanceled:
		return data, code, err
	case gpgTimeout:
		return "", 0, context.DeadlineExceeded
	}
	return "", 0, fmt.Errorf("pinentry failed with code %d", code)
}

// graphical reports whether a flavor has its own buttons and is known to work. A flavor
// for terminals would write into another program's terminal.
func graphical(flavor string) bool {
	flavor, fallback, _ := strings.Cut(flavor, ":")
	return (strings.HasPrefix(flavor, "gtk") || strings.HasPrefix(flavor, "qt") || flavor == "gnome3") && fallback == ""
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

// escape encodes one argument of an Assuan command.
func escape(text string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D").Replace(text)
}

// orNone returns err, or errNoPresenter if err is nil, since %w needs an error.
func orNone(err error) error {
	if err == nil {
		return errNoPresenter
	}
	return err
}
