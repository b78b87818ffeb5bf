package webapi

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Limits on responses, in bytes after decompression.
const (
	maxBody    = 4 << 20  // of a result
	maxRefusal = 64 << 10 // of an error body
)

// Intervals of progress messages for a long response.
const (
	progressBytes    = 256 << 10
	progressInterval = time.Second
)

// read returns the decompressed body. A body longer than limit or cut off is an error.
func (x *exchange) read(ctx context.Context, limit int64) ([]byte, *aai.Error) {
	length := x.resp.ContentLength // compressed length, or -1
	if x.method == http.MethodHead || x.resp.Body == nil || x.resp.Body == http.NoBody {
		return nil, nil
	}
	body, compressed, err := x.plainBody()
	if err != nil {
		return nil, x.unreadable(err)
	}
	if compressed {
		length = -1
	}
	if length > limit {
		return nil, x.tooLarge(limit, length)
	}
	var b bytes.Buffer
	b.Grow(int(max(length, 0)) + bytes.MinRead)
	_, err = b.ReadFrom(&progressReader{
		body: io.LimitReader(body, limit+1), ctx: ctx, from: x.address.origin, total: max(length, 0), told: time.Now(),
	})
	if int64(b.Len()) > limit {
		return nil, x.tooLarge(limit, length)
	}
	if err != nil {
		return nil, x.partialError(ctx, err, b.Len())
	}
	return b.Bytes(), nil
}

// plainBody decompresses the body if the client has not done so.
func (x *exchange) plainBody() (body io.Reader, compressed bool, err error) {
	if x.resp.Uncompressed {
		return x.resp.Body, true, nil
	}
	body = x.resp.Body
	switch coding := strings.ToLower(strings.TrimSpace(x.resp.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
		return body, false, nil
	case "gzip", "x-gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	default:
		err = fmt.Errorf("it is encoded as %q, which was not requested", aai.CleanLabel(coding, 40))
	}
	if errors.Is(err, io.EOF) { // empty body
		return http.NoBody, true, nil
	}
	return body, true, err
}

func (x *exchange) tooLarge(limit, length int64) *aai.Error {
	size := "more than that"
	if length > 0 {
		size = sizeText(length)
	}
	err := aai.Errorf(aai.APIRequestFailed, "%s: the answer is too large: at most %s are read, it has %s", x.tool,
		sizeText(limit), size)
	err.Hint = "The server got the request. Ask it for less at a time."
	err.Delivery = aai.Delivered
	return err
}

func (x *exchange) unreadable(cause error) *aai.Error {
	err := aai.Errorf(aai.APIRequestFailed, "%s: the answer cannot be read: %w", x.tool, cause)
	err.Hint = "The server has carried out the request."
	err.Delivery = aai.Delivered
	return err
}

// partialError returns the error of an incomplete response.
func (x *exchange) partialError(ctx context.Context, cause error, got int) *aai.Error {
	if err := contextEnded(ctx, cause); err != nil {
		return abortError(err, x.String(), aai.Delivered)
	}
	err := aai.Errorf(aai.APIRequestFailed, "%s: the answer broke off after %s", x.tool, sizeText(int64(got)))
	err.Hint = "The server got the request. Look at its state before you try again."
	err.Err, err.Delivery = cause, aai.Delivered
	return err
}

// progressReader reads a body and reports progress. It reports nothing for a short one, so that
// the gateway's heartbeat continues.
type progressReader struct {
	body        io.Reader
	ctx         context.Context
	from        string
	done, total int64
	last        int64 // last reported position
	told        time.Time
}

// Read implements io.Reader.
func (m *progressReader) Read(p []byte) (int, error) {
	n, err := m.body.Read(p[:min(len(p), progressBytes/4)])
	m.done += int64(n)
	if m.done-m.last >= progressBytes || m.last > 0 && m.done > m.last && time.Since(m.told) >= progressInterval {
		m.last, m.told = m.done, time.Now()
		gateway.Progress(m.ctx, float64(m.done), float64(m.total), "Downloading from "+m.from)
	}
	return n, err
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
