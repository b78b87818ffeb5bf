package devtools

import (
	"bufio"
	"context"
	"errors"
	"os"
)

// A pipe is the wire of a browser that this process has started with --remote-debugging-pipe: a zero byte ends each
// message. No other program can use it.
type pipe struct {
	in  *os.File // of the browser
	out *os.File
	// messages reads out.
	messages *bufio.Reader
}

func newPipe(in, out *os.File) *pipe {
	return &pipe{in: in, out: out, messages: bufio.NewReaderSize(out, 1<<16)}
}

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = p.out.Close() })
	defer stop()
	var message []byte
	for {
		part, err := p.messages.ReadSlice(0)
		message = append(message, part...)
		switch {
		case err == nil:
			return message[:len(message)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(message) > maxMessage:
			return nil, errTooLong
		}
	}
}

func (p *pipe) Write(_ context.Context, data []byte) error {
	_, err := p.in.Write(append(data, 0))
	return err
}

func (p *pipe) Close() error { return errors.Join(p.in.Close(), p.out.Close()) }
